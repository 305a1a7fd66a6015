// SPDX-License-Identifier: MIT
// Estimates the bytes and the time of a training step by mode, and selects the fastest mode.
#pragma once

#include <cstdint>
#include <span>

#include "dist/train/channel.h"
#include "dist/train/split.h"
#include "dist/wire/tensors.h"

namespace kaiseki::dist {

enum class PoolMode : uint8_t {
  automatic,  // the fastest mode by plan_step(); "auto" in texts
  data,       // nodes compute all gradients
  /// Nodes compute the gradients of the backbone. The server computes those of the head at the same
  /// time (MILJS paper, Algorithms 1 and 2). "concurrent-head" in texts.
  concurrent_head,
  /// Nodes compute the backbone, and the server the head. The activations at the border and their
  /// gradients are sent between the two.
  border,
};

struct StepShape {
  int64_t backbone_parameters = 0, head_parameters = 0;
  int64_t border = 0, outputs = 0;                             // elements per sample
  int64_t backbone_multiply_adds = 0, head_multiply_adds = 0;  // per sample, forward
  int64_t samples = 0, ticket_samples = 0;
  int64_t sample_bytes = 0;  // per sample on the wire
  double weights_share = 1;  // the share of the weights' bytes that a node fetches: 1, or a delta's
  WireType wire = WireType::f16;
};

/// The caller sets `samples` and the members after it.
StepShape step_shape(const NetworkSplit& split, int64_t outputs);

struct ServerRate {
  double gflops = 50;
  double mbit_s = 1000;  // in each direction
};

struct StepPlan {
  double down_bytes = 0, up_bytes = 0;  // of all nodes, without samples and control parts
  double seconds = 0;
};

/// `nodes` must not be empty, and `mode` must not be automatic. Each ticket goes to the node that
/// would finish it first. A node's link and device work at the same time if it holds several
/// tickets. Nodes share the server's link.
StepPlan plan_step(PoolMode mode, const StepShape& shape, std::span<const NodeRate> nodes,
                   const ServerRate& server = {});

/// Returns the mode with the shortest time. If a node is a volunteer's, returns the mode with the
/// fewest bytes. Only modes that take at most twice the shortest time are considered then.
PoolMode best_mode(const StepShape& shape, std::span<const NodeRate> nodes,
                   const ServerRate& server = {});

/// Accepts auto, data, concurrent-head and border. Throws Error for other texts.
PoolMode parse_pool_mode(std::string_view text);
std::string_view pool_mode_name(PoolMode mode);

}  // namespace kaiseki::dist
