// SPDX-License-Identifier: MIT
// Parameter: a trained tensor with its gradient.
#pragma once

#include <string>

#include "matrix/tensor.h"

namespace kaiseki::nn {

struct Parameter {
  std::string name;  // "conv1.weight"
  Tensor value;
  Tensor grad;          // same shape; backward passes add to it
  bool decay = true;    // false for biases and normalisation: no weight decay
  float carry = 0;      // of grad, what the next pass begins with: the momentum where grad is also
                        // the optimizer's velocity
  bool begins = false;  // grad counts as carry * grad, which nobody has written yet

  /// What a layer that writes gradients keeps of `grad`: this much of what is there.
  float keep_grad() const { return begins ? carry : 1.0f; }
};

/// A tensor that is saved but not trained, such as a running mean.
struct State {
  std::string name;  // "bn1.running_mean"
  Tensor value;
};

}  // namespace kaiseki::nn
