// SPDX-License-Identifier: MIT
// Host memory for numbers: aligned for vectors, and on large pages where these reduce address
// translation.
#pragma once

#include <cstdint>
#include <memory>

namespace kaiseki {

/// Aligned to 64 bytes, uninitialized. Returns nullptr if there is not enough memory. Requests
/// large pages for blocks of 4 MiB and more.
void* allocate_host(uint64_t bytes) noexcept;
void release_host(void* block) noexcept;

/// Writes to every page, so that the system provides the memory now and not at first use.
void touch_host(void* block, uint64_t bytes) noexcept;

/// Returns whether discard_host() has an effect. It has none under ASan, which could not detect an
/// access from one part of a block into the next.
bool can_discard_host() noexcept;
/// Returns the whole pages inside to the system. Their contents are lost. Later writes are kept.
void discard_host(void* part, uint64_t bytes) noexcept;

struct ReleaseHost {
  void operator()(float* block) const { release_host(block); }
};

/// A growing array of floats, kept between calls. Its contents are not kept.
class Scratch {
 public:
  /// Returns at least `count` floats. Throws std::bad_alloc.
  float* reserve(int64_t count);

 private:
  std::unique_ptr<float, ReleaseHost> data_;
  int64_t capacity_ = 0;
};

}  // namespace kaiseki
