// SPDX-License-Identifier: MIT
// Working memory of one CPU thread, kept between calls.
#pragma once

#include <cstddef>

namespace kaiseki::cpu {

/// Returns at least `count` floats, aligned to 64 bytes, uninitialized. They are valid until this
/// thread's next call.
float* thread_scratch(size_t count);

}  // namespace kaiseki::cpu
