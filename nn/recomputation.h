// SPDX-License-Identifier: MIT
// Recomputation: chooses the values that a pass frees, and computes again in its backward pass. Its
// tensors then fit the device. Tensors may leave the device instead. A time model decides.
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

/// A plan, and the predictions of the models for it.
struct FittedPlan {
  ExecutionPlan plan;
  uint64_t peak = 0;             // bytes, if no tensor leaves the device
  uint64_t on_device = 0;        // the most bytes that are on the device at a time, without weights
  uint64_t room = 0, slots = 0;  // the limits of the plan, as in PassLimits
  uint64_t leaves = 0;           // bytes that are copied from the device
  int64_t in_pieces = 0;         // steps whose own tensors do not fit; each runs in pieces
  uint64_t missing = 0;          // bytes that the plan needs beyond the room; 0: the plan can run
  /// Of the forward and the backward pass. Nothing if everything fits as it is.
  std::optional<double> seconds = {};
  /// Seconds that no plan can go below, by the same model. Nothing if everything fits as it is, or
  /// if no plan can run.
  std::optional<double> bound = {};
};

/// Chooses the values that the backward pass computes again. Starts with none. Adds the value that
/// saves the most memory for its time, until the pass fits. Returns the fastest plan of the search.
/// If no plan can run, returns the plan with the fewest missing bytes.
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

/// As fit_plan(), with the rates of the device. If not everything fits, the workspace gets an
/// eighth of the room, or its own limit if that is less.
FittedPlan fit_to_device(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                         const DeviceRoom& room, Device device);
/// The known times of solvers whose workspace fits beside a plan. The plan's tensors have `room`.
KnownSeconds known_seconds_beside(uint64_t room, Device device);

/// Returns idle_weight_bytes() of the device, or 0 if its tensors cannot leave.
uint64_t device_weights(const Graph& graph, Device device);

/// The number of equal parts in which a minibatch runs. Usually a part fits beside all weights
/// (parts_that_fit()). If weights, gradients and slots take more than half of the room, they may
/// leave. Then the predicted time decides. Without a backward pass, the parts have at least half of
/// the room.
int64_t parts_on_device(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                        const DeviceRoom& room, Device device);

}  // namespace kaiseki::nn
