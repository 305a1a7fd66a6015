// SPDX-License-Identifier: MIT
// A network cut in two at its border: the head, which nodes compute, and the tail, which the server
// computes (MILJS paper, section 3.4: convolutions and fully connected layers).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "matrix/shape.h"
#include "nn/network.h"

namespace kaiseki::dist {

struct NetworkSplit {
  std::string border;      // the last layer of the head
  Shape shape;             // of one sample there
  std::string head, tail;  // networks in JSON; the tail's input is named as the border
  int64_t head_parameters = 0, tail_parameters = 0;
  int64_t head_multiply_adds = 0, tail_multiply_adds = 0;  // of one sample, forward
};

/// `json`: what Network::parse() takes. `border`: the name of a layer; empty: the one before the
/// first fully connected layer. Throws Error when there is no such layer, or when something else
/// than it is read across the cut.
NetworkSplit split_network(std::string_view json, std::string_view border = {});

/// Makes the parameters, gradients and states of `part` those of the same names in `whole`.
void share_tensors(nn::Network& whole, nn::Network& part);

}  // namespace kaiseki::dist
