// SPDX-License-Identifier: MIT
// The words of a Philox stream (matrix/random.h), many at a time.
#pragma once

#include <cstdint>

namespace kaiseki::cpu {

/// Words position..position+count of (seed, stream).
void philox_words(uint64_t seed, uint64_t stream, uint64_t position, int64_t count, uint32_t* out);

}  // namespace kaiseki::cpu
