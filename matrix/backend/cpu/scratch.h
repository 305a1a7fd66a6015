// SPDX-License-Identifier: MIT
// Working memory of one thread on the CPU, kept between calls.
#pragma once

#include <cstddef>

namespace kaiseki::cpu {

/// At least `count` floats, aligned to 64 bytes, uninitialised; this thread's until its next call.
float* thread_scratch(size_t count);

}  // namespace kaiseki::cpu
