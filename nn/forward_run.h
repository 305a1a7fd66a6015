// SPDX-License-Identifier: MIT
// ForwardRun: the tensors of one pass through a network.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/tensor.h"
#include "nn/execution_plan.h"

namespace kaiseki::nn {

/// One forward pass. A backward pass may follow.
struct ForwardRun {
  const ExecutionPlan* plan = nullptr;
  std::vector<Tensor> inputs = {};
  Tensor targets = {};
  uint64_t random_step = 0;
  int64_t first_sample = 0;
  std::vector<Tensor> values = {};
  std::vector<std::vector<Tensor>> saved = {};  // by step
  std::vector<Tensor> losses = {};              // by step
  int64_t batch = 0;
  double scale = 1;  // of all gradients
};

}  // namespace kaiseki::nn
