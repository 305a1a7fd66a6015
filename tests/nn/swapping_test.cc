// SPDX-License-Identifier: MIT
// Networks whose tensors do not fit a device together. Tensors wait on the host, or a minibatch
// runs in parts.
#include "nn/swapping.h"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>

#include "base/error.h"
#include "matrix/backend/opencl/device.h"
#include "matrix/memory/out_of_core.h"
#include "matrix/memory/spill.h"
#include "nn/memory_model.h"
#include "nn/network.h"
#include "nn/parse_network.h"
#include "nn/planner.h"
#include "nn/recomputation.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/nn/less_memory.h"
#include "tests/nn/train/fixture.h"
#include "tests/support/simulated_link.h"
#include "tests/support/spill.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::nn {
namespace {

using test::kBatch;
using test::kShortcut;
using test::kSums;
using test::kTwoHeads;
using test::train;

/// The smaller part of the memory must make tensors move.
void check_with_less_memory(Device device) {
  const test::WithRates rates(test::kFastLink);
  CHECK(test::check_with_less_memory(device, kShortcut, std::array{0.8, 0.65})[1] != 0);
  CHECK(test::check_with_less_memory(device, kSums, std::array{0.9, 0.8})[1] != 0);
  CHECK(test::check_with_less_memory(device, kTwoHeads, std::array{0.8, 0.65})[1] != 0);
}

}  // namespace

TEST_CASE("swapping: a training on OpenCL computes the same bits in less memory") {
  opencl::OpenclBackend* backend = test::opencl_or_null();
  if (!backend) return;
  for (const opencl::Style style : {opencl::Style::cpu, opencl::Style::gpu}) {
    CAPTURE(static_cast<int>(style));
    test::WithStyle with(backend->opencl(), style);
    check_with_less_memory(Device::opencl(0));
  }
}

TEST_CASE("swapping: tensors of OpenCL go to files if the page-locked memory is full") {
  opencl::OpenclBackend* backend = test::opencl_or_null();
  if (!backend) return;
  const Device device = Device::opencl(0);
  const test::WithStyle with(backend->opencl(), opencl::Style::gpu);
  const TestFolder folder("spill");
  const test::WithSpillFolder files_in(folder.path);
  Allocator& page_locked = *device.memory().backing();
  Allocator& files = *Device::cpu().memory().backing();
  page_locked.trim();
  page_locked.set_budget(page_locked.account().in_use + (uint64_t{2} << 20));
  files.reset_peak();
  const uint64_t before = files.account().peak;
  check_with_less_memory(device);
  CHECK(files.account().peak > before);
  page_locked.set_budget({});
}

TEST_CASE("swapping: a training on the CPU computes the same bits with files") {
  const TestFolder folder("spill");
  const test::WithSpillFolder files_in(folder.path);
  check_with_less_memory(Device::cpu());
  CHECK(std::filesystem::is_empty(folder.path));  // the files have no names
}

TEST_CASE("swapping: a link that costs nothing is better than computing again") {
  const Graph graph = build_graph(parse_network(kShortcut, "test"));
  const ExecutionPlan whole =
      make_execution_plan(graph, {.phase = Phase::train, .loss = true, .backward = true});
  const auto rounded = [](uint64_t bytes) { return Device::cpu().memory().rounded(bytes); };
  const uint64_t peak = predict_peak(graph, whole, kBatch, rounded);
  const uint64_t weights = idle_weight_bytes(graph, rounded, smallest_outside(peak / 2));
  const FittedPlan moved = fit_plan(
      graph, whole,
      {.batch = kBatch, .room = peak / 2 + weights, .rates = test::kFastLink, .rounded = rounded});
  CHECK(moved.peak == peak);
  CHECK(moved.on_device == peak / 2);
  CHECK(moved.leaves >= peak - peak / 2);
}

TEST_CASE("swapping: steps that do not fit run in pieces, down to a sample or a channel") {
  const Graph graph = build_graph(parse_network(kShortcut, "test"));
  const auto rounded = [](uint64_t bytes) { return Device::cpu().memory().rounded(bytes); };
  const ExecutionPlan whole =
      make_execution_plan(graph, {.phase = Phase::train, .loss = true, .backward = true});
  uint64_t own = 0;
  for (const StepMemory& step : predict_memory(graph, whole, kBatch, rounded))
    own = std::max(own, step.own);
  const auto fit = [&](uint64_t room) {
    return fit_plan(graph, whole,
                    {.batch = kBatch, .room = room, .rates = test::kFastLink, .rounded = rounded});
  };
  CHECK(fit(own + own / 8).in_pieces == 0);  // small tensors stay beside them
  const FittedPlan half = fit(own / 2), tenth = fit(own / 10);
  CHECK(half.missing == 0);
  CHECK(half.in_pieces > 0);
  CHECK(tenth.missing == 0);
  CHECK(tenth.in_pieces > half.in_pieces);
  CHECK(tenth.seconds.value() >= half.seconds.value());
  CHECK(fit(own / 100).missing > 0);
  CHECK(fit_plan(graph, whole,
                 {.batch = kBatch,
                  .room = own / 2,
                  .rates = {.multiply_adds = 1e10, .bytes = 1e10},
                  .rounded = rounded})
            .missing > 0);  // nothing can leave
}

TEST_CASE("swapping: the model predicts the bytes that leave the CPU") {
  // Tensors leave as a whole, and the other memory in use differs by step.
  constexpr double kThreeTensors = 3 * 1.25 * (1 << 20);
  const test::SimulatedLink link(1e12);
  const test::WithRates rates(test::kFastLink);
  test::WithTunePolicy policy({TuneMode::off});
  Device::cpu().workspace().set_limit(0);
  for (const char* json : {kShortcut, kSums, kTwoHeads}) {
    CAPTURE(json);
    const Network network = Network::parse(json, "test", Device::cpu());
    const Graph graph = build_graph(network.spec());
    const ExecutionPlan plan =
        make_execution_plan(graph, {.phase = Phase::train, .loss = true, .backward = true});
    const auto rounded = [](uint64_t bytes) { return Device::cpu().memory().rounded(bytes); };
    train(json, Device::cpu(), {});  // allocates memory that is kept
    const test::Trained whole = train(json, Device::cpu(), {});
    const uint64_t beside = whole.peak - predict_peak(graph, plan, kBatch, rounded);
    for (const double part : {0.9, 0.8, 0.7}) {
      CAPTURE(part);
      const auto budget = static_cast<uint64_t>(part * static_cast<double>(whole.peak));
      const test::Trained less = train(json, Device::cpu(), budget);
      // The bytes beside the pass contain the weights, which can leave too.
      const uint64_t weights = idle_weight_bytes(graph, rounded, smallest_outside(budget));
      const FittedPlan fitted = fit_plan(graph, plan,
                                         {.batch = kBatch,
                                          .room = budget - beside + weights,
                                          .rates = test::kFastLink,
                                          .rounded = rounded});
      const double moved = static_cast<double>(less.moved - whole.moved) / 3;
      CHECK(fitted.in_pieces == 0);
      CHECK(moved <= static_cast<double>(fitted.leaves) + kThreeTensors);
      CHECK(moved >= static_cast<double>(fitted.leaves) - kThreeTensors);
    }
  }
  Device::cpu().workspace().set_limit({});
}

TEST_CASE("spilling: a folder that does not exist is refused") {
  CHECK_THROWS_WITH_AS(set_spill_folder("/no/such/folder"), doctest::Contains("No such file"),
                       Error);
}

TEST_CASE("swapping: tensors of the running step stay, and so does the gradient that it reads") {
  if (!test::opencl_or_null()) return;
  const Device device = Device::opencl(0);
  const Network network = Network::parse(kSums, "test", device);
  const Graph graph = build_graph(network.spec());
  const ExecutionPlan plan =
      make_execution_plan(graph, {.phase = Phase::train, .loss = true, .backward = true});
  ForwardRun run{.plan = &plan};
  run.values.resize(plan.uses.size());
  run.saved.resize(plan.steps.size());
  for (Tensor& value : run.values) value = Tensor({1 << 18}, DType::f32, device);
  Tensor gradient({1 << 18}, DType::f32, device), other({1 << 18}, DType::f32, device);
  std::vector<Tensor*> waiting(run.values.size(), &other);
  waiting[5] = &gradient;  // not of a value of this step
  const size_t step = 1;
  SwapHistory history;
  Swapping swapping(run, device, history, {}, waiting);
  swapping.begin(plan.backward_time(step));
  swapping.keep(gradient);
  CHECK(swapping.evict(uint64_t{1} << 40));
  CHECK_FALSE(gradient.buffer().left_device());
  for (size_t v = 0; v < run.values.size(); ++v) {
    CAPTURE(v);
    const bool reads =
        std::ranges::find(plan.uses[v], plan.backward_time(step)) != plan.uses[v].end();
    CHECK(run.values[v].buffer().left_device() == !reads);
  }
  CHECK_FALSE(other.buffer().left_device());
  swapping.begin(plan.backward_time(step));  // keeps nothing else
  CHECK(swapping.evict(uint64_t{1} << 40));
  CHECK(gradient.buffer().left_device());
}

TEST_CASE("swapping: a step that does not fit names the memory that it needs") {
  if (!test::opencl_or_null()) return;
  const Device device = Device::opencl(0);
  test::WithTunePolicy policy({TuneMode::off});
  CHECK_THROWS_WITH_AS(train(kShortcut, device, uint64_t{1} << 17),
                       doctest::Contains("; needed by the forward step of layer "), OutOfMemory);
  device.memory().set_budget({});
}

}  // namespace kaiseki::nn
