// SPDX-License-Identifier: MIT
// The random numbers of one tree.
#pragma once

#include <array>
#include <cstdint>

#include "matrix/random.h"

namespace kaiseki::ml {

/// As Random, but it uses all four words of a block, because growing a tree draws many numbers.
class TreeRandom {
 public:
  TreeRandom(uint64_t seed, uint64_t stream)
      : key_{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)},
        counter_{0, 0, static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)} {}

  /// Uniform in [0, bound), without bias (Lemire, "Fast random integer generation in an interval",
  /// 2019). bound > 0.
  uint32_t below(uint32_t bound) {
    uint64_t product = uint64_t{next()} * bound;
    if (static_cast<uint32_t>(product) < bound) {
      const uint32_t biased = (~bound + 1) % bound;  // 2^32 mod bound
      while (static_cast<uint32_t>(product) < biased) product = uint64_t{next()} * bound;
    }
    return static_cast<uint32_t>(product >> 32);
  }

 private:
  uint32_t next() {
    if (used_ == 4) {
      words_ = philox(counter_, key_);
      if (++counter_[0] == 0) ++counter_[1];
      used_ = 0;
    }
    return words_[used_++];
  }

  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_, words_{};
  size_t used_ = 4;
};

}  // namespace kaiseki::ml
