// SPDX-License-Identifier: MIT
// A tensor with a name, as in files of weights.
#pragma once

#include <map>
#include <string>

#include "matrix/tensor.h"

namespace kaiseki::nn {

struct NamedTensor {
  std::string name;
  Tensor value;
};

/// Free text that is stored with the tensors.
using Metadata = std::map<std::string, std::string>;

}  // namespace kaiseki::nn
