// SPDX-License-Identifier: MIT
// A tensor with a name: what files of weights hold.
#pragma once

#include <map>
#include <string>

#include "matrix/tensor.h"

namespace kaiseki::nn {

struct NamedTensor {
  std::string name;
  Tensor value;
};

/// Free text that goes with the tensors.
using Metadata = std::map<std::string, std::string>;

}  // namespace kaiseki::nn
