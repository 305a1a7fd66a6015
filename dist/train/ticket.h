// SPDX-License-Identifier: MIT
// One piece of work on a part of a minibatch, as bytes (docs/protocol-tensors.md).
#pragma once

#include <cstdint>
#include <string>

#include "dist/wire/tensors.h"

namespace kaiseki::dist {

enum class Work : uint8_t {
  gradients,  // of the first parameters, of the mean loss of the ticket's samples
  forward,    // the output of the network, which is a head
  backward,   // gradients of the first parameters, for a gradient of that output
};

struct Ticket {
  Work work = Work::gradients;
  std::string network = {}, weights = {}, samples = {};  // SHA-256 of blobs
  uint64_t seed = 0, position = 0;                       // of the network's random streams
  int64_t first = 0;                                     // of the samples, in the minibatch
  int64_t gradients = 0;  // parameters, from the first of the weights on
  bool output = false;    // with loss, output and states
  WireType activation_type = WireType::f32, gradient_type = WireType::f32;
  Tensor labels = {};       // of Work::gradients
  Tensor grad_output = {};  // of Work::backward
};

ByteVector encode_ticket(const Ticket& ticket);
/// Throws ParseError.
Ticket decode_ticket(ByteView bytes);

}  // namespace kaiseki::dist
