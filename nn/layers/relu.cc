// SPDX-License-Identifier: MIT
// ReLU: max(x, 0), element by element.
#include "nn/layers/activation.h"

namespace kaiseki::nn {

std::unique_ptr<Layer> make_relu() { return std::make_unique<ActivationLayer>(Activation::relu); }

}  // namespace kaiseki::nn
