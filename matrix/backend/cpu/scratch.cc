// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/scratch.h"

#include "matrix/memory/host.h"

namespace kaiseki::cpu {

float* thread_scratch(size_t count) {
  static thread_local Scratch scratch;
  return scratch.reserve(static_cast<int64_t>(count));
}

}  // namespace kaiseki::cpu
