// SPDX-License-Identifier: MIT
// OnnxGraph: the operators and tensors that a network's layers write.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "matrix/tensor.h"
#include "nn/io/protobuf.h"

namespace kaiseki::nn {

/// The operators and initializers of a network, and the names in use.
struct OnnxGraph {
  std::map<std::string, Tensor> tensors;  // parameters and states
  std::deque<Tensor> scalars;
  std::set<std::string> taken;
  std::vector<ProtoWriter> nodes, initializers;

  /// Returns the name if it is free, else the name with a number appended.
  std::string free_name(const std::string& wish);
};

}  // namespace kaiseki::nn
