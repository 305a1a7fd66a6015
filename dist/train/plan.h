// SPDX-License-Identifier: MIT
// What one step of training over a pool moves and takes, by mode, and which mode is the fastest.
#pragma once

#include <cstdint>
#include <span>

#include "dist/train/channel.h"
#include "dist/train/split.h"
#include "dist/wire/tensors.h"

namespace kaiseki::dist {

enum class PoolMode : uint8_t {
  automatic,  // the fastest by plan_step()
  data,       // nodes compute all gradients
  paper,      // nodes those of the head, the server meanwhile those of the tail (MILJS paper,
              // Algorithms 1 and 2)
  border,     // activations and their gradients cross the border, the server computes the tail
};

struct StepShape {
  int64_t head_parameters = 0, tail_parameters = 0;
  int64_t border = 0, outputs = 0;                         // elements of one sample
  int64_t head_multiply_adds = 0, tail_multiply_adds = 0;  // of one sample, forward
  int64_t samples = 0, ticket_samples = 0;
  int64_t sample_bytes = 0;  // of one sample on the wire
  WireType wire = WireType::f16;
};

/// Without `samples` and what follows, which the caller sets.
StepShape step_shape(const NetworkSplit& split, int64_t outputs);

struct ServerRate {
  double gflops = 50;
  double mbit_s = 1000;  // each way
};

struct StepPlan {
  double down_bytes = 0, up_bytes = 0;  // of all nodes, without samples and control
  double seconds = 0;
};

/// `nodes` is not empty; `mode` not automatic. Tickets go to the node that is done first; its link
/// and its device work at the same time, as far as it holds several tickets. Nodes share the
/// server's link.
StepPlan plan_step(PoolMode mode, const StepShape& shape, std::span<const NodeRate> nodes,
                   const ServerRate& server = {});

/// The one that takes the least time.
PoolMode fastest_mode(const StepShape& shape, std::span<const NodeRate> nodes,
                      const ServerRate& server = {});

/// Throws Error unless it is auto, data, paper or border.
PoolMode parse_pool_mode(std::string_view text);
std::string_view pool_mode_name(PoolMode mode);

}  // namespace kaiseki::dist
