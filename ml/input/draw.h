// SPDX-License-Identifier: MIT
// Random choices that estimators share.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/random.h"

namespace kaiseki::ml {

/// Uniform in [0, 1), a multiple of 2^-53.
inline double uniform_double(Random& random) {
  const uint64_t high = random.next() >> 5, low = random.next() >> 6;
  return static_cast<double>(high << 26 | low) * 0x1p-53;
}

/// `count` different numbers below `bound`, in random order. count <= bound.
inline std::vector<int64_t> choose_different(int64_t count, int64_t bound, Random& random) {
  std::vector<int64_t> numbers(static_cast<size_t>(bound));
  for (int64_t i = 0; i < bound; ++i) numbers[i] = i;
  for (int64_t i = 0; i < count; ++i)
    std::swap(numbers[i],
              numbers[i + static_cast<int64_t>(random.below(static_cast<uint64_t>(bound - i)))]);
  numbers.resize(static_cast<size_t>(count));
  return numbers;
}

}  // namespace kaiseki::ml
