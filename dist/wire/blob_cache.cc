// SPDX-License-Identifier: MIT
#include "dist/wire/blob_cache.h"

#include <utility>

#include "base/error.h"
#include "base/sha256.h"

namespace kaiseki::dist {

void expect_blob(std::string_view operation, const std::string& hash, ByteView bytes) {
  if (const std::string got = sha256(bytes); got != hash)
    throw Error(
        message(operation, "expected a blob with the SHA-256 ", hash, ", got one with ", got));
}

const ByteVector* BlobCache::find(const std::string& hash) {
  const auto place = places_.find(hash);
  if (place == places_.end()) return nullptr;
  blobs_.splice(blobs_.begin(), blobs_, place->second);
  return &place->second->bytes;
}

void BlobCache::add(const std::string& hash, ByteVector bytes) {
  if (contains(hash)) return;
  bytes_ += bytes.size();
  blobs_.push_front({hash, std::move(bytes)});
  places_[hash] = blobs_.begin();
  while (bytes_ > most_bytes_ && blobs_.size() > always_kept_)
    remove(std::string(blobs_.back().hash));
}

void BlobCache::remove(const std::string& hash) {
  const auto place = places_.find(hash);
  if (place == places_.end()) return;
  bytes_ -= place->second->bytes.size();
  blobs_.erase(place->second);
  places_.erase(place);
}

}  // namespace kaiseki::dist
