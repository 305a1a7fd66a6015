// SPDX-License-Identifier: MIT
// The predicted times of the steps of a pass.
#include "nn/step_times.h"

#include <doctest/doctest.h>

#include <optional>

#include "nn/parse_network.h"
#include "nn/planner.h"

namespace kaiseki::nn {
namespace {

constexpr int64_t kStepBatch = 8;
constexpr const char* kNetwork = R"({"inputs": {"x": {"shape": [2, 10, 10]}}, "layers": [
    {"name": "a", "type": "convolution", "kernel_size": 3, "output_channels": 4, "bias": false},
    {"name": "n", "type": "batch_normalization"},
    {"name": "b", "type": "convolution", "kernel_size": 3, "output_channels": 5, "bias": false},
    {"name": "f", "type": "fully_connected", "output_size": 3}]})";
constexpr double kA = kStepBatch * 4 * 64 * 2 * 9, kB = kStepBatch * 5 * 36 * 4 * 9,
                 kF = kStepBatch * 3 * 180;

/// The times of the layers a, n, b and f.
std::vector<StepTime> times(const DeviceRates& rates, const KnownSeconds& known = {}) {
  const Graph graph = build_graph(parse_network(kNetwork, "test"));
  const ExecutionPlan plan =
      make_execution_plan(graph, {.phase = Phase::train, .loss = true, .backward = true});
  std::vector<StepTime> all = step_times(graph, plan, kStepBatch, rates, known);
  REQUIRE(all.size() >= 4);
  return all;
}

}  // namespace

TEST_CASE("step times: products by the rate of multiply-adds") {
  const std::vector<StepTime> steps = times({.multiply_adds = 1e6, .bytes = 1e30});
  CHECK(steps[0].forward == doctest::Approx(kA / 1e6));
  CHECK(steps[0].backward == doctest::Approx(kA / 1e6));  // without the gradient of the input
  CHECK(steps[1].forward < 1e-20);
  CHECK(steps[2].forward == doctest::Approx(kB / 1e6));
  CHECK(steps[2].backward == doctest::Approx(2 * kB / 1e6));
  CHECK(steps[3].backward == doctest::Approx(2 * kF / 1e6));
}

TEST_CASE("step times: other steps by the bytes that they read and write") {
  const std::vector<StepTime> steps = times({.multiply_adds = 1e30, .bytes = 1e6});
  constexpr double kNormalized = 2.0 * kStepBatch * 4 * 64 * sizeof(float);
  CHECK(steps[1].forward == doctest::Approx(kNormalized / 1e6));
  CHECK(steps[1].backward == doctest::Approx(2 * kNormalized / 1e6));
}

TEST_CASE("step times: a convolution that was measured takes the measured time") {
  int asked = 0;
  const KnownSeconds known = [&](const ConvProblem& problem) -> std::optional<double> {
    ++asked;
    CHECK(problem.n == kStepBatch);
    if (problem.c == 2) return {};
    return problem.direction == ConvDirection::forward         ? 3.0
           : problem.direction == ConvDirection::backward_data ? 5.0
                                                               : 7.0;
  };
  const std::vector<StepTime> steps = times({.multiply_adds = 1e6, .bytes = 1e30}, known);
  CHECK(steps[0].forward == doctest::Approx(kA / 1e6));
  CHECK(steps[2].forward == 3);
  CHECK(steps[2].backward == 12);
  CHECK(steps[3].forward == doctest::Approx(kF / 1e6));
  CHECK(asked == 5);
}

}  // namespace kaiseki::nn
