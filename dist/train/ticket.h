// SPDX-License-Identifier: MIT
// TrainingTicket: the work on a part of a minibatch, as bytes (docs/protocol-tensors.md).
#pragma once

#include <cstdint>
#include <string>

#include "dist/wire/tensors.h"

namespace kaiseki::dist {

enum class Work : uint8_t {
  gradients,  // of the first parameters, for the mean loss of the ticket's samples
  forward,    // the output of the network, here a backbone
  backward,   // gradients of the first parameters, for a gradient of that output
};

struct TrainingTicket {
  Work work = Work::gradients;
  std::string network = {}, weights = {}, samples = {};  // SHA-256 of blobs
  std::string base = {}, delta = {};  // SHA-256 of earlier weights, and of the delta from them to
                                      // `weights`; empty: none
  uint64_t seed = 0, position = 0;    // of the network's random streams
  int64_t first = 0;                  // index of the first sample in the minibatch
  int64_t gradients = 0;              // number of parameters, from the first of the weights
  bool output = false;                // whether the result has loss, output and states
  WireType activation_type = WireType::f32, gradient_type = WireType::f32;
  Tensor labels = {};       // for Work::gradients
  Tensor grad_output = {};  // for Work::backward
};

ByteVector encode_ticket(const TrainingTicket& ticket);
/// Throws ParseError.
TrainingTicket decode_ticket(ByteView bytes);

}  // namespace kaiseki::dist
