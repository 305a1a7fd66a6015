// SPDX-License-Identifier: MIT
// BlobStore: immutable files named by the SHA-256 of what is in them (weights, data, results).
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "dist/pool/types.h"

namespace kaiseki::dist {

struct BlobLimits {
  uint64_t max_blob = uint64_t{4} << 30;      // bytes of one blob
  uint64_t free_floor = uint64_t{256} << 20;  // bytes of the disk that stay free
  bool durable = true;  // false: they need not outlive the process, and nothing waits for the disk
};

/// 64 lower-case hexadecimal digits: safe as a file's name.
bool is_blob_hash(std::string_view text);

class BlobStore {
 public:
  /// Makes the folder if need be, for this user only, and removes what a crash left half written.
  explicit BlobStore(std::filesystem::path folder, BlobLimits limits = {});
  ~BlobStore();
  BlobStore(const BlobStore&) = delete;
  BlobStore& operator=(const BlobStore&) = delete;

  /// On the disk when it returns, if durable. Throws Error when the disk has no room or the blob is
  /// too large; the blobs before stay as they are.
  BlobHash put(ByteView bytes);

  /// A blob that comes in pieces. Without finish() nothing stays.
  class Writer {
   public:
    Writer(Writer&&) noexcept;
    ~Writer();
    void write(ByteView bytes);
    /// Throws Error when `expected` is given and the bytes have another hash.
    BlobHash finish(const BlobHash& expected = {});

   private:
    friend class BlobStore;
    struct Impl;
    explicit Writer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
  };
  Writer writer();

  bool contains(const BlobHash& hash) const;
  /// Wanted again: as young as if it had just been put. False when it is not there.
  bool touch(const BlobHash& hash);
  /// Bytes of a blob. This and the next two throw Error when it is not there.
  uint64_t size(const BlobHash& hash) const;
  /// The whole blob. Throws Error when the bytes are not the hash's any more; the blob then counts
  /// as missing and can be put again.
  ByteVector read(const BlobHash& hash);
  /// `count` bytes from `offset` on, fewer at the end. The whole file is checked the first time.
  ByteVector read(const BlobHash& hash, uint64_t offset, uint64_t count);

  /// Removes blobs that `keep` does not want and that nobody put in the last `min_age` seconds.
  int64_t collect(const std::function<bool(const BlobHash&)>& keep, double min_age);
  /// Whether it was put in the last `seconds`; false when it is not there.
  bool is_younger(const BlobHash& hash, double seconds) const;
  /// Whether it was there.
  bool remove(const BlobHash& hash);
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path path_of(const BlobHash& hash) const;
  void verify(const BlobHash& hash);
  void sync_folder() const;
  void sync_parent() const;

  std::filesystem::path folder_;
  BlobLimits limits_;
  int opened_ = -1;                                               // the folder, if it is synced
  std::map<BlobHash, std::filesystem::file_time_type> verified_;  // and how old the file was then
};

}  // namespace kaiseki::dist
