// SPDX-License-Identifier: MIT
// Leaky ReLU: x, or slope * x if x is negative.
#include "nn/layers/activation.h"

namespace kaiseki::nn {
namespace {

class LeakyRelu : public ActivationLayer {
 public:
  LeakyRelu() : ActivationLayer(Activation::leaky_relu) {}
  void settings(Settings& settings) override {
    settings.number("slope", slope_, {.low = 0, .high = 1});
    activation_.slope = static_cast<float>(slope_);
  }

 private:
  double slope_ = 0.01;
};

}  // namespace

std::unique_ptr<Layer> make_leaky_relu() { return std::make_unique<LeakyRelu>(); }

}  // namespace kaiseki::nn
