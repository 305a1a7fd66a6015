// SPDX-License-Identifier: MIT
// Parameter, State: the tensors of a network that are saved. Gradients: the gradients of its
// parameters.
#pragma once

#include <string>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::nn {

struct Parameter {
  std::string name;  // "conv1.weight"
  Tensor value;
  bool decay = true;  // false for biases and normalization: no weight decay
};

/// A tensor that is saved but not trained, such as a running mean.
struct State {
  std::string name;  // "bn1.running_mean"
  Tensor value;
};

/// The gradients of all parameters of a network, in the order of Network::parameters().
struct Gradients {
  std::vector<Tensor> values;  // each has its parameter's shape
  /// Above 0: each value is momentum * velocity + gradient. Its memory is an optimizer's velocity.
  float momentum = 0;
};

}  // namespace kaiseki::nn
