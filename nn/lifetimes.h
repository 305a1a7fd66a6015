// SPDX-License-Identifier: MIT
// Lifetimes: when the tensors of a plan are needed, and which of them the backward pass computes
// again.
#pragma once

#include <vector>

#include "nn/execution_plan.h"

namespace kaiseki::nn {

/// Sets the lifetimes of a plan whose steps are chosen, in place of earlier ones. `dropped`:
/// droppable values that the backward pass computes again.
void set_lifetimes(ExecutionPlan& plan, const Graph& graph, const std::vector<bool>& dropped = {});

}  // namespace kaiseki::nn
