// SPDX-License-Identifier: MIT
// Host memory for numbers: aligned for vectors, and on large pages where that saves the processor
// looking up addresses.
#pragma once

#include <cstdint>
#include <memory>

namespace kaiseki {

/// Aligned to 64 bytes, uninitialised; null when there is none. Blocks of 4 MiB and more ask the
/// system for large pages.
void* allocate_host(uint64_t bytes) noexcept;
void release_host(void* block) noexcept;

/// Writes to every page, so that the system gives its memory now, not when it is first used.
void touch_host(void* block, uint64_t bytes) noexcept;

/// Whether discard_host() does anything; not under ASan, which would not see from one part of a
/// block into the next.
bool can_discard_host() noexcept;
/// Gives whole pages inside back to the system: what was there is lost, what is written stays.
void discard_host(void* part, uint64_t bytes) noexcept;

struct ReleaseHost {
  void operator()(float* block) const { release_host(block); }
};

/// Floats that grow and are kept between calls; their contents are not.
class Scratch {
 public:
  /// At least `count` floats. Throws std::bad_alloc.
  float* reserve(int64_t count);

 private:
  std::unique_ptr<float, ReleaseHost> data_;
  int64_t capacity_ = 0;
};

}  // namespace kaiseki
