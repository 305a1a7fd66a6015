// SPDX-License-Identifier: MIT
// The hyperbolic tangent, element by element.
#include "nn/layers/activation.h"

namespace kaiseki::nn {

std::unique_ptr<Layer> make_tanh() { return std::make_unique<ActivationLayer>(Activation::tanh); }

}  // namespace kaiseki::nn
