// SPDX-License-Identifier: MIT
#include "dist/pool/blob_garbage.h"

namespace kaiseki::dist {
namespace {

constexpr double kYoungest = 5;  // seconds: a younger blob may be about to get a reference

}  // namespace

int64_t BlobGarbage::collect(double now) {
  int64_t removed = 0;
  std::erase_if(discarded_, [&](const BlobHash& hash) {
    if (blobs_.is_younger(hash, kYoungest)) return false;
    if (!store_.names_blob(hash)) removed += blobs_.remove(hash);
    return true;
  });
  next_ = now + kYoungest;
  return removed;
}

}  // namespace kaiseki::dist
