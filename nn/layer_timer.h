// SPDX-License-Identifier: MIT
// LayerTimer: receives the time of each layer of a network, for a profile.
#pragma once

#include <functional>
#include <string>

namespace kaiseki::nn {

struct LayerTime {
  /// The layer, with the activation and the pooling that it computes in the same pass.
  std::string name;
  bool backward = false;
  double begin = 0, seconds = 0;  // begin: of steady_seconds()
};

using LayerTimer = std::function<void(const LayerTime&)>;

}  // namespace kaiseki::nn
