// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace kaiseki::nn {

/// How bytes of pictures become a network's input: (byte / 255 - mean) / std. There is a value for
/// each channel, or one for all, or none for 0 and 1. `mean` may also be a mean image: one value
/// for each value of a sample, [channels, height, width].
struct Normalization {
  std::vector<float> mean = {}, std = {};

  bool operator==(const Normalization&) const = default;
};

}  // namespace kaiseki::nn
