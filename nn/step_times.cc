// SPDX-License-Identifier: MIT
#include "nn/step_times.h"

#include <algorithm>

#include "matrix/backend/backend.h"
#include "matrix/conv/candidates.h"

namespace kaiseki::nn {
namespace {

/// A backward step of a layer without products reads and writes about twice the bytes.
constexpr double kBackwardBytes = 2;

class StepTimer {
 public:
  StepTimer(const Graph& graph, const ExecutionPlan& plan, int64_t batch, const DeviceRates& rates,
            const KnownSeconds& known)
      : graph_(graph), plan_(plan), batch_(batch), rates_(rates), known_(known) {}

  StepTime time_of(const PlanStep& step) const {
    const LayerShape& shape = graph_.nodes[static_cast<size_t>(step.node)].shape;
    const double forward = forward_seconds(step, shape);
    const auto product = [&](ConvDirection direction) {
      return known(shape, direction).value_or(forward);
    };
    StepTime time{.forward = product(ConvDirection::forward)};
    if (!step.needs_backward) return time;
    if (shape.multiply_adds == 0) {
      time.backward = kBackwardBytes * forward;
      return time;
    }
    // The products for both gradients, of the parameters and of the input, have the same size.
    if (!shape.parameters.empty()) time.backward += product(ConvDirection::backward_filter);
    if (plan_.needs_gradient[static_cast<size_t>(step.inputs[0])])
      time.backward += product(ConvDirection::backward_data);
    return time;
  }

 private:
  std::optional<double> known(const LayerShape& shape, ConvDirection direction) const {
    if (!shape.convolution || !known_) return {};
    ConvProblem problem = *shape.convolution;
    problem.n = batch_;
    problem.direction = direction;
    return known_(problem);
  }

  /// The time by the rates: the longer time of multiplying, or of reading and writing.
  double forward_seconds(const PlanStep& step, const LayerShape& shape) const {
    auto elements = static_cast<double>(graph_.shape_of(step.output).elements());
    for (int value : step.inputs)
      elements += static_cast<double>(graph_.shape_of(value).elements());
    return static_cast<double>(batch_) *
           std::max(static_cast<double>(shape.multiply_adds) / rates_.multiply_adds,
                    elements * sizeof(float) / rates_.bytes);
  }

  const Graph& graph_;
  const ExecutionPlan& plan_;
  const int64_t batch_;
  const DeviceRates& rates_;
  const KnownSeconds& known_;
};

}  // namespace

KnownSeconds known_seconds(Device device, uint64_t workspace) {
  return [device, workspace](const ConvProblem& problem) {
    return fastest_known_seconds(device.backend(), problem, workspace);
  };
}

std::vector<StepTime> step_times(const Graph& graph, const ExecutionPlan& plan, int64_t batch,
                                 const DeviceRates& rates, const KnownSeconds& known) {
  const StepTimer timer(graph, plan, batch, rates, known);
  std::vector<StepTime> times;
  for (const PlanStep& step : plan.steps) times.push_back(timer.time_of(step));
  return times;
}

}  // namespace kaiseki::nn
