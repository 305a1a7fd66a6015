// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "nn/execution_plan.h"
#include "nn/pass_limits.h"

namespace kaiseki::nn {

/// Returns seconds that no plan of this pass can go below, by the time model. At one step the most
/// bytes are live. Those that do not fit must be computed again, or cross the link in both
/// directions. The bound takes the best division between both, also of a tensor. It ignores all
/// other steps. Nothing if no division fits. `plan`: without dropped values. `times`: step_times().
std::optional<double> bound_of_plans(const Graph& graph, const ExecutionPlan& plan,
                                     const PassLimits& limits, const std::vector<StepTime>& times);

}  // namespace kaiseki::nn
