// SPDX-License-Identifier: MIT
// BlobStore: immutable files named by the SHA-256 of their bytes (weights, data, results).
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "dist/pool/types.h"

namespace kaiseki::dist {

struct BlobLimits {
  uint64_t max_blob = uint64_t{4} << 30;      // bytes of one blob
  uint64_t free_floor = uint64_t{256} << 20;  // bytes of the disk that are left free
  bool durable = true;  // false: blobs may be lost with the process, and no call waits for the disk
};

class BlobStore {
 public:
  /// Creates the folder for this user only, if there is none. Deletes partial files of a crash.
  explicit BlobStore(std::filesystem::path folder, BlobLimits limits = {});
  ~BlobStore();
  BlobStore(const BlobStore&) = delete;
  BlobStore& operator=(const BlobStore&) = delete;

  /// Stores a blob. If durable, it is on the disk when this returns. Throws DiskFull if the disk
  /// has no room, and Error if the blob is too large. Other blobs are not affected.
  BlobHash put(ByteView bytes);

  /// Writes a blob in parts. Without finish() nothing is stored.
  class Writer {
   public:
    Writer(Writer&&) noexcept;
    ~Writer();
    void write(ByteView bytes);
    /// Throws Error if `expected` is given and the bytes have another hash.
    BlobHash finish(const BlobHash& expected = {});

   private:
    friend class BlobStore;
    struct Impl;
    explicit Writer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
  };
  Writer writer();

  bool contains(const BlobHash& hash) const;
  /// Sets the blob's age to 0. Returns false if there is no such blob. Also returns false if its
  /// hash was not checked since the start. It may then be damaged, so put it again.
  bool touch(const BlobHash& hash);
  /// Bytes of a blob. This and both read() throw Error if there is no such blob.
  uint64_t size(const BlobHash& hash) const;
  /// The whole blob. If its bytes do not match the hash, this throws Error. The blob then counts as
  /// missing and can be put again.
  ByteVector read(const BlobHash& hash);
  /// `count` bytes from `offset`, fewer at the end. The first call checks the hash of the whole
  /// file.
  ByteVector read(const BlobHash& hash, uint64_t offset, uint64_t count);
  /// Checks the hash of up to `most` further bytes. Returns whether the check is complete: read()
  /// then takes no longer than its bytes. Throws like read().
  bool check(const BlobHash& hash, uint64_t most);

  /// Checks the whole hash. Returns false if there is no such blob or if it is damaged.
  bool is_whole(const BlobHash& hash);

  /// Deletes blobs older than `min_age` seconds for which `keep` is false. Returns their number.
  int64_t collect(const std::function<bool(const BlobHash&)>& keep, double min_age);
  /// Whether the blob was put in the last `seconds`. False if there is no such blob.
  bool is_younger(const BlobHash& hash, double seconds) const;
  /// Returns false if there is no such blob.
  bool remove(const BlobHash& hash);
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path path_of(const BlobHash& hash) const;
  void sync_folder() const;
  void sync_parent() const;
  void check_whole(const BlobHash& hash);

  std::filesystem::path folder_;
  BlobLimits limits_;
  int opened_ = -1;  // descriptor of the folder, if it is synced
  using Time = std::filesystem::file_time_type;
  std::map<BlobHash, Time> verified_;  // with the file's time at the check
  struct Check;                        // of a blob's hash, begun
  std::map<BlobHash, std::unique_ptr<Check>> checks_;
};

}  // namespace kaiseki::dist
