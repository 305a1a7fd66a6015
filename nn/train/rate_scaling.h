// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>

namespace kaiseki::nn {

/// How the learning rate changes with the size of a minibatch. square_root: Krizhevsky 2014, "One
/// weird trick for parallelizing convolutional neural networks", section 5. linear: Goyal et al.
/// 2017, "Accurate, Large Minibatch SGD", section 2.1.
enum class RateScaling : uint8_t { none, square_root, linear };

/// The factor of the rate, for a size that is `ratio` times as large.
inline double rate_factor(RateScaling scaling, double ratio) {
  return scaling == RateScaling::none     ? 1
         : scaling == RateScaling::linear ? ratio
                                          : std::sqrt(ratio);
}

}  // namespace kaiseki::nn
