// SPDX-License-Identifier: MIT
// x, or slope * x where x is negative.
#include "nn/layers/activation.h"

namespace kaiseki::nn {

std::unique_ptr<Layer> make_leaky_relu(LayerParams& params) {
  const auto slope = static_cast<float>(params.number("slope", 0.01, 0, 1));
  return std::make_unique<ActivationLayer>(Activation::leaky_relu, slope);
}

}  // namespace kaiseki::nn
