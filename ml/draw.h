// SPDX-License-Identifier: MIT
// Checks of settings, and random choices, that estimators share.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "matrix/random.h"

namespace kaiseki::ml {

/// Requires a setting of `least` or more. Throws Error.
inline void check_at_least(int64_t value, int64_t least, std::string_view setting,
                           std::string_view name) {
  if (value < least)
    throw Error(message(name, "expected ", setting, " of ", least, " or more, got ", value));
}

/// Uniform in [0, 1), a multiple of 2^-53.
inline double uniform_double(Random& random) {
  const uint64_t high = random.next() >> 5, low = random.next() >> 6;
  return static_cast<double>(high << 26 | low) * 0x1p-53;
}

/// `count` different numbers below `bound`, in random order. count <= bound.
inline std::vector<int64_t> choose_different(int64_t count, int64_t bound, Random& random) {
  std::vector<int64_t> numbers(static_cast<size_t>(bound));
  for (int64_t i = 0; i < bound; ++i) numbers[i] = i;
  for (int64_t i = 0; i < count; ++i) {
    const auto rest = static_cast<uint64_t>(bound - i);
    std::swap(numbers[i], numbers[i + static_cast<int64_t>(random.below(rest))]);
  }
  numbers.resize(static_cast<size_t>(count));
  return numbers;
}

}  // namespace kaiseki::ml
