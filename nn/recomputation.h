// SPDX-License-Identifier: MIT
// Recomputation: which values a pass frees and computes again in its backward pass, so that its
// tensors fit the device. The alternative is to let tensors leave the device. A time model decides.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "matrix/cost/rates.h"
#include "nn/execution_plan.h"
#include "nn/step_times.h"

namespace kaiseki::nn {

/// The memory and the rates that a pass has.
struct PassLimits {
  int64_t batch = 0;
  uint64_t room = 0;  // bytes of tensors
  DeviceRates rates = {};
  std::function<uint64_t(uint64_t)> rounded;  // Allocator::rounded()
  KnownSeconds known_seconds = {};
};

/// A plan, and what the models predict for it.
struct FittedPlan {
  ExecutionPlan plan;
  uint64_t peak = 0;       // bytes, if no tensor leaves the device
  uint64_t on_device = 0;  // bytes of the most that is on the device at a time
  uint64_t leaves = 0;     // bytes that are copied from the device
  int64_t in_pieces = 0;   // steps whose own tensors do not fit; each runs in pieces
  uint64_t missing = 0;    // bytes that the pass needs beyond the room, even so
  double seconds = 0;      // of the forward and the backward pass
};

/// Chooses the values that the backward pass computes again. Starts with none, and adds the value
/// that saves most memory for its time, until the pass fits. Returns the plan of the shortest
/// predicted time on this way, or the one that misses the fewest bytes if none can run.
FittedPlan fit_plan(const Graph& graph, const ExecutionPlan& plan, const PassLimits& limits);

/// The predicted seconds of the forward and the backward pass of a plan.
double pass_seconds(const Graph& graph, const ExecutionPlan& plan, const PassLimits& limits);

/// As fit_plan(), with the rates of the device. If the pass does not fit `room` bytes as it is, an
/// eighth of them is for the workspace of convolutions, or its limit if that is less.
FittedPlan fit_to_device(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                         uint64_t room, Device device);

}  // namespace kaiseki::nn
