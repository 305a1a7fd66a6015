// SPDX-License-Identifier: MIT
// Splits a network at its border into a backbone and a head. Nodes compute the backbone, and the
// server computes the head (MILJS paper, section 3.4: convolutions and fully connected layers).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "matrix/shape.h"
#include "nn/network.h"
#include "nn/network_spec.h"

namespace kaiseki::dist {

struct NetworkSplit {
  std::string border;              // the last layer of the backbone
  Shape shape;                     // of one sample at the border
  nn::NetworkSpec backbone, head;  // the head's input has the name of the border
  int64_t backbone_parameters = 0, head_parameters = 0;
  int64_t backbone_multiply_adds = 0, head_multiply_adds = 0;  // per sample, forward
};

/// `border`: the name of a layer. Empty: the layer before the first fully connected one. Throws
/// Error if there is no such layer. Also throws Error if the head reads another backbone layer.
NetworkSplit split_network(const nn::NetworkSpec& spec, std::string_view border = {});

/// Lets `part` use the parameters, gradients and states with the same names in `whole`.
void share_tensors(nn::Network& whole, nn::Network& part);

}  // namespace kaiseki::dist
