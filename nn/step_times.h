// SPDX-License-Identifier: MIT
// Predicts the times of the steps of a pass. If the tuner has measured a convolution, its time is
// the measured one. All other times follow from the rates of the device.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "matrix/conv/problem.h"
#include "matrix/cost/rates.h"
#include "nn/execution_plan.h"

namespace kaiseki::nn {

/// The seconds of a step. Without a backward pass, `backward` is 0.
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
