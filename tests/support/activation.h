// SPDX-License-Identifier: MIT
// Activations in double, as references for tests.
#pragma once

#include <cmath>

#include "matrix/activation.h"

namespace kaiseki::test {

/// If v is NaN, the result is NaN.
inline double activate(double v, Activation kind, double slope) {
  switch (kind) {
    case Activation::none:
      return v;
    case Activation::relu:
      return v < 0 ? 0 : v;
    case Activation::leaky_relu:
      return v < 0 ? slope * v : v;
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-v));
    case Activation::tanh:
      return std::tanh(v);
  }
  return v;
}

}  // namespace kaiseki::test
