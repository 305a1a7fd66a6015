// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "nn/execution_plan.h"
#include "nn/pass_limits.h"

namespace kaiseki::nn {

/// Returns seconds that no plan of this pass can go below, by the time model. What does not fit at
/// the step with the highest peak must be computed again, or go over the link in both directions.
/// The bound divides it between both in the best way, also parts of a tensor. It ignores all other
/// steps. `plan`: without dropped values. `times`: step_times().
double bound_of_plans(const Graph& graph, const ExecutionPlan& plan, const PassLimits& limits,
                      const std::vector<StepTime>& times);

}  // namespace kaiseki::nn
