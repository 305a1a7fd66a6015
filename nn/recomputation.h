// SPDX-License-Identifier: MIT
// Recomputation: which values a pass frees and computes again in its backward pass, so that its
// tensors fit the device. The alternative is to let tensors leave the device. A time model decides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "matrix/device.h"
#include "nn/execution_plan.h"
#include "nn/pass_limits.h"

namespace kaiseki::nn {

/// A plan, and what the models predict for it.
struct FittedPlan {
  ExecutionPlan plan;
  uint64_t peak = 0;       // bytes, if no tensor leaves the device
  uint64_t on_device = 0;  // bytes of the most that is on the device at a time, without weights
  uint64_t room = 0, slots = 0;  // that the plan was chosen for, as in PassLimits
  uint64_t leaves = 0;           // bytes that are copied from the device
  int64_t in_pieces = 0;         // steps whose own tensors do not fit; each runs in pieces
  uint64_t missing = 0;          // bytes that the pass needs beyond the room, even so
  double seconds = 0;            // of the forward and the backward pass
  /// Seconds that no plan can go below, by the same model. Nothing if everything fits as it is, or
  /// if no plan can run.
  std::optional<double> bound = {};
};

/// Chooses the values that the backward pass computes again. Starts with none, and adds the value
/// that saves most memory for its time, until the pass fits. Returns the fastest plan that the
/// search found. If none can run, returns the plan with the fewest missing bytes.
FittedPlan fit_plan(const Graph& graph, const ExecutionPlan& plan, const PassLimits& limits);

/// The predicted seconds of the forward and the backward pass of a plan.
double pass_seconds(const Graph& graph, const ExecutionPlan& plan, const PassLimits& limits);

/// The bytes of tensors on a device.
struct DeviceRoom {
  uint64_t bytes = 0;    // for the pass, `weights` and `slots`
  uint64_t weights = 0;  // weights and gradients that can leave
  uint64_t slots = 0;    // others that can leave, and that the pass does not use
  /// The room beside all that can leave.
  uint64_t for_pass() const { return bytes - std::min(bytes, weights + slots); }
};

/// As fit_plan(), with the rates of the device. If not everything fits, an eighth of the room is
/// for the workspace of convolutions, or its limit if that is less.
FittedPlan fit_to_device(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                         const DeviceRoom& room, Device device);
/// The known times of solvers whose workspace fits beside a plan. `room`: of the plan's tensors.
KnownSeconds known_seconds_beside(uint64_t room, Device device);

/// idle_weight_bytes() of the device. 0 if its tensors cannot leave.
uint64_t device_weights(const Graph& graph, Device device);

/// The parts of equal size in which a minibatch runs. Mostly they fit beside all weights
/// (parts_that_fit()). If weights, gradients and slots take more than half of the room, they may
/// leave. The time decides then. Without a backward pass, the parts have half of the room.
int64_t parts_on_device(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                        const DeviceRoom& room, Device device);

}  // namespace kaiseki::nn
