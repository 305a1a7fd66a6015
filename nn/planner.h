// SPDX-License-Identifier: MIT
// Makes the plan of a pass over a graph.
#pragma once

#include "nn/execution_plan.h"

namespace kaiseki::nn {

ExecutionPlan make_execution_plan(const Graph& graph, const ExecutionPlanOptions& options);

}  // namespace kaiseki::nn
