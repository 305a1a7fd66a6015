// SPDX-License-Identifier: MIT
// Predicts how long the steps of a pass take. The times of convolutions are those that were
// measured, if the tuner knows them. All others follow from the rates of the device.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "matrix/conv/problem.h"
#include "matrix/cost/rates.h"
#include "nn/execution_plan.h"

namespace kaiseki::nn {

/// Seconds. A step without a backward pass has 0.
struct StepTime {
  double forward = 0, backward = 0;
};

/// The seconds of a convolution, or nothing if they are not known.
using KnownSeconds = std::function<std::optional<double>(const ConvProblem&)>;

/// Returns the tuner's times on the device. Ignores solvers with more workspace, in bytes.
KnownSeconds known_seconds(Device device, uint64_t workspace = UINT64_MAX);

/// The times of each step of the plan, for `batch` samples. `known` may be empty.
std::vector<StepTime> step_times(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                                 const DeviceRates& rates, const KnownSeconds& known);

}  // namespace kaiseki::nn
