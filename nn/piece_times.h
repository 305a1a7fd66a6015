// SPDX-License-Identifier: MIT
// Predicts steps whose own tensors do not fit the device. They run in pieces.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "matrix/conv/problem.h"
#include "nn/execution_plan.h"
#include "nn/memory_model.h"
#include "nn/pass_limits.h"

namespace kaiseki::nn {

/// The pieces of one step.
struct StepPieces {
  int64_t count = 0;   // the number of pieces of its operation with the most pieces
  double seconds = 0;  // of computing and copying, which overlap
  double compute = 0;  // seconds of the whole step in core
};

class PieceTimes {
 public:
  /// The references must outlive the object. `times`: step_times().
  PieceTimes(const Graph& graph, const PassLimits& limits, std::vector<StepTime> times)
      : graph_(graph), limits_(limits), times_(std::move(times)) {}

  /// Returns the pieces of the step at a time of the plan. `memory` is that of this step.
  StepPieces of(const ExecutionPlan& plan, size_t time, const StepMemory& memory);

 private:
  /// Returns nothing if the smallest piece does not fit.
  std::optional<StepPieces> of_convolution(const ConvProblem& problem);
  StepPieces of_other(double seconds, uint64_t bytes) const;

  const Graph& graph_;
  const PassLimits& limits_;
  const std::vector<StepTime> times_;
  std::map<ConvProblem, std::optional<StepPieces>> convolutions_;  // results of of_convolution()
};

}  // namespace kaiseki::nn
