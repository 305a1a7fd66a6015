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

namespace kaiseki::nn {

/// The memory and the rates that a pass has.
struct PassLimits {
  int64_t batch = 0;
  uint64_t room = 0;  // bytes of tensors
  DeviceRates rates = {};
  std::function<uint64_t(uint64_t)> rounded;  // Allocator::rounded()
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

/// A backward step computes two products of the size of the forward step's: for the gradients of
/// its input and of its filter. So its time is that of the forward step times this.
inline constexpr double kBackwardTime = 2;

/// The predicted seconds of a forward step of `batch` samples.
double forward_seconds(const Graph& graph, const PlanStep& step, int64_t batch,
                       const DeviceRates& rates);

/// Chooses the values that the backward pass computes again. Starts with none, and adds the value
/// that saves most memory for its time, until the pass fits. Returns the plan of the shortest
/// predicted time on this way, or the one that misses the fewest bytes if none can run.
FittedPlan fit_plan(const Graph& graph, const ExecutionPlan& plan, const PassLimits& limits);

/// The same with the rates of the device. If the pass does not fit `room` bytes as it is, an eighth
/// of them is for the workspace of convolutions, or its limit if that is less.
FittedPlan fit_to_device(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                         uint64_t room, Device device);

}  // namespace kaiseki::nn
