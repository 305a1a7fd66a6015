// SPDX-License-Identifier: MIT
// BlobCache: blobs by their SHA-256. The least recently used blobs are evicted first.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/bytes.h"

namespace kaiseki::dist {

/// Throws Error, which begins with [operation], if the bytes have another hash.
void expect_blob(std::string_view operation, const std::string& hash, ByteView bytes);

class BlobCache {
 public:
  /// Evicts blobs while they have more than `most_bytes` together. It keeps the `always_kept` blobs
  /// that were used last.
  explicit BlobCache(uint64_t most_bytes, size_t always_kept = 0)
      : most_bytes_(most_bytes), always_kept_(always_kept) {}

  BlobCache(const BlobCache&) = delete;
  BlobCache& operator=(const BlobCache&) = delete;
  BlobCache(BlobCache&&) = default;
  BlobCache& operator=(BlobCache&&) = default;

  bool contains(const std::string& hash) const { return places_.contains(hash); }
  /// Null if the blob is missing. Valid until the next add() or remove().
  const ByteVector* find(const std::string& hash);
  /// Trusts that the bytes have the hash.
  void add(const std::string& hash, ByteVector bytes);
  void remove(const std::string& hash);

 private:
  struct CachedBlob {
    std::string hash;
    ByteVector bytes;
  };

  uint64_t most_bytes_, bytes_ = 0;
  size_t always_kept_;
  std::list<CachedBlob> blobs_;  // the last used blob is first
  std::unordered_map<std::string, std::list<CachedBlob>::iterator> places_;
};

}  // namespace kaiseki::dist
