// SPDX-License-Identifier: MIT
// BlobGarbage: blobs that an author discarded. They are deleted once they are old enough, unless
// something refers to them.
#pragma once

#include <set>
#include <span>

#include "dist/pool/blobs.h"
#include "dist/pool/store.h"

namespace kaiseki::dist {

class BlobGarbage {
 public:
  BlobGarbage(Store& store, BlobStore& blobs) : store_(store), blobs_(blobs) {}

  void add(std::span<const BlobHash> blobs) { discarded_.insert(blobs.begin(), blobs.end()); }
  bool is_due(double now) const { return !discarded_.empty() && next_ <= now; }
  /// Deletes those that are old enough. Returns their number.
  int64_t collect(double now);

 private:
  Store& store_;
  BlobStore& blobs_;
  std::set<BlobHash> discarded_;
  double next_ = 0;
};

}  // namespace kaiseki::dist
