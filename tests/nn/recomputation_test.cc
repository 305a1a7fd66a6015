// SPDX-License-Identifier: MIT
// Values that a pass frees and computes again.
#include "nn/recomputation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>

#include "base/error.h"
#include "matrix/random.h"
#include "nn/lifetimes.h"
#include "nn/memory_model.h"
#include "nn/network_impl.h"
#include "nn/parse_network.h"
#include "nn/planner.h"
#include "tests/nn/less_memory.h"

namespace kaiseki::nn {
namespace {

using test::kBatch;
using test::kShortcut;
using test::kSums;
using test::kTwoHeads;
using test::train;

constexpr ExecutionPlanOptions kTraining{.phase = Phase::train, .loss = true, .backward = true};

/// Two outputs. A backward pass from the first one has no steps of the other.
constexpr const char* kTwoOutputs = R"({"inputs": {"x": {"shape": [3, 12, 12]}}, "layers": [
    {"name": "a", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 6},
    {"name": "b", "type": "tanh"},
    {"name": "i", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 6},
    {"name": "j", "type": "tanh"},
    {"name": "c", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 6},
    {"name": "d", "type": "relu"},
    {"name": "f", "type": "fully_connected", "output_size": 4},
    {"name": "e", "type": "convolution", "inputs": ["d"], "kernel_size": 3, "output_channels": 5},
    {"name": "g", "type": "sigmoid"},
    {"name": "h", "type": "fully_connected", "output_size": 3}],
    "outputs": {"first": "f", "second": "h"}})";

/// The second head has as many bytes of values as the first, in small tensors.
constexpr const char* kLargeHead = R"({"inputs": {"x": {"shape": [4, 40, 40]}}, "layers": [
    {"name": "a", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "b", "type": "tanh"},
    {"name": "c", "type": "convolution", "kernel_size": 1, "output_channels": 96},
    {"name": "d", "type": "relu"}, {"name": "e", "type": "global_pooling"},
    {"name": "f", "type": "fully_connected", "output_size": 4},
    {"name": "g", "type": "convolution", "kernel_size": 1, "output_channels": 16, "inputs": ["b"]},
    {"name": "h", "type": "batch_normalization"}, {"name": "i", "type": "relu"},
    {"name": "j", "type": "convolution", "kernel_size": 1, "output_channels": 16},
    {"name": "k", "type": "batch_normalization"}, {"name": "l", "type": "tanh"},
    {"name": "m", "type": "convolution", "kernel_size": 1, "output_channels": 16},
    {"name": "n", "type": "sigmoid"}, {"name": "o", "type": "dropout"},
    {"name": "p", "type": "convolution", "kernel_size": 1, "output_channels": 16},
    {"name": "q", "type": "tanh"}, {"name": "r", "type": "global_pooling"},
    {"name": "s", "type": "fully_connected", "output_size": 3}]%s})";

/// Returns the gradients by name after a backward pass from the first output. The budget is `bytes`
/// more than is in use.
std::map<std::string, std::vector<float>> gradients_of_first_output(const std::string& json,
                                                                    uint64_t bytes) {
  Allocator& memory = Device::cpu().memory();
  memory.trim();
  if (bytes) memory.set_budget(memory.account().in_use + bytes);
  Network network = Network::parse(json, "test", Device::cpu());
  network.initialize(3);
  network.zero_grad();
  network.forward(test::random_tensor({kBatch, 4, 40, 40}, 1), Phase::train);
  network.backward(test::random_tensor({kBatch, 4}, 2));
  std::map<std::string, std::vector<float>> gradients;
  for (size_t i = 0; i < network.parameters().size(); ++i)
    gradients[network.parameters()[i].name] = network.gradients().values[i].to_vector();
  memory.set_budget({});
  return gradients;
}

uint64_t rounded(uint64_t bytes) { return Device::cpu().memory().rounded(bytes); }

/// A network whose plans the test chooses.
struct Subject {
  explicit Subject(const char* json) {
    impl.graph = build_graph(parse_network(json, "test"));
    impl.device = Device::cpu();
    impl.allocate();
    impl.make_gradients();
    for (size_t i = 0; i < impl.parameters.size(); ++i)
      impl.parameters[i].value = test::random_tensor(impl.parameters[i].value.shape(), i + 1);
    for (size_t i = 0; i < impl.states.size(); ++i)
      states.push_back(test::random_tensor(impl.states[i].value.shape(), i + 1));
  }

  /// The loss or the first output, and the gradients of the parameters.
  std::vector<std::vector<float>> run(const ExecutionPlan& plan) {
    impl.begin_gradients();
    for (size_t i = 0; i < impl.states.size(); ++i) impl.states[i].value = states[i].clone();
    Shape shape = {kBatch};
    for (int64_t dim : impl.graph.spec.inputs[0].shape) shape.push_back(dim);
    std::vector<int32_t> classes(kBatch);
    std::iota(classes.begin(), classes.end(), 0);
    for (int32_t& one : classes) one %= 3;
    ForwardRun run{.plan = &plan,
                   .inputs = {test::random_tensor(shape, 99)},
                   .targets = Tensor::from<int32_t>(classes, Shape{kBatch}, impl.device),
                   .batch = kBatch};
    impl.forward(run);
    std::vector<std::vector<float>> results;
    std::vector<Tensor> seeds;
    if (plan.options.loss) {
      results.push_back(impl.total_loss(run).to_vector());
    } else {
      const auto output = static_cast<size_t>(plan.outputs[0]);
      results.push_back(run.values[output].to_vector());
      seeds.resize(run.values.size());
      seeds[output] = test::random_tensor(run.values[output].shape(), 98);
    }
    impl.backward(run, std::move(seeds));
    for (const Tensor& gradient : impl.gradients.values) results.push_back(gradient.to_vector());
    for (const State& state : impl.states) results.push_back(state.value.to_vector());
    return results;
  }

  NetworkImpl impl;
  std::vector<Tensor> states;  // before a pass
};

/// Drops random sets of values. The results keep their bits.
void check_dropped(const char* json, const ExecutionPlanOptions& options) {
  CAPTURE(json);
  test::WithTunePolicy policy({TuneMode::off});
  Device::cpu().workspace().set_limit(0);  // other solvers add in another order
  Subject subject(json);
  const ExecutionPlan whole = make_execution_plan(subject.impl.graph, options);
  REQUIRE(std::count(whole.droppable.begin(), whole.droppable.end(), true) >= 3);
  const auto expected = subject.run(whole);
  Random random(5, 0);
  for (int trial = 0; trial < 30; ++trial) {
    CAPTURE(trial);
    // The first trials drop one value each, the last one drops all.
    std::vector<bool> dropped(whole.droppable.size());
    for (size_t v = 0; v < dropped.size(); ++v)
      dropped[v] = whole.droppable[v] &&
                   (trial == 29 ||
                    (static_cast<size_t>(trial) < dropped.size() ? v == static_cast<size_t>(trial)
                                                                 : random.next() % 2 == 0));
    ExecutionPlan plan = whole;
    set_lifetimes(plan, subject.impl.graph, dropped);
    CHECK(subject.run(plan) == expected);
  }
  Device::cpu().workspace().set_limit({});
}

}  // namespace

TEST_CASE("recomputation: any set of dropped values gives the same bits") {
  check_dropped(kShortcut, kTraining);
  check_dropped(kSums, kTraining);
  check_dropped(kTwoHeads, kTraining);
}

TEST_CASE("recomputation: a backward pass from one of two outputs has no steps of the other") {
  check_dropped(kTwoOutputs, {.phase = Phase::train, .backward = true});
}

TEST_CASE("recomputation: the plan tells when an output is computed again") {
  const Graph graph = build_graph(parse_network(kShortcut, "test"));
  ExecutionPlan plan = make_execution_plan(graph, kTraining);
  set_lifetimes(plan, graph, plan.droppable);
  int earlier = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    CAPTURE(i);
    const size_t again = plan.again_time(i);
    CHECK(again <= plan.backward_time(i));
    if (!plan.steps[i].recomputed) CHECK(again == plan.backward_time(i));
    if (again == plan.backward_time(i)) continue;
    ++earlier;
    CHECK(again >= plan.steps.size());
    // A step that reads the output itself, or computes another output from it.
    const std::vector<int>& reads = plan.steps[2 * plan.steps.size() - 1 - again].read_backward;
    bool leads = std::ranges::find(reads, plan.steps[i].output) != reads.end();
    for (size_t j = 0; j < plan.steps.size(); ++j) {
      const std::vector<int>& inputs = plan.steps[j].inputs;
      leads |= plan.steps[j].recomputed && plan.again_time(j) == again &&
               std::ranges::find(inputs, plan.steps[i].output) != inputs.end();
    }
    CHECK(leads);
  }
  CHECK(earlier > 5);
}

TEST_CASE("recomputation: without dropped values, a plan is the same as before") {
  const Graph graph = build_graph(parse_network(kShortcut, "test"));
  const ExecutionPlan plan = make_execution_plan(graph, kTraining);
  ExecutionPlan again = plan;
  set_lifetimes(again, graph, plan.droppable);
  CHECK(again.uses != plan.uses);
  set_lifetimes(again, graph);
  CHECK(again.droppable == plan.droppable);
  CHECK(again.uses == plan.uses);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    CAPTURE(i);
    CHECK(again.steps[i].dead == plan.steps[i].dead);
    CHECK(again.steps[i].dead_backward == plan.steps[i].dead_backward);
    CHECK(again.steps[i].recomputed == plan.steps[i].recomputed);
    CHECK(again.steps[i].may_overwrite == plan.steps[i].may_overwrite);
  }
}

TEST_CASE("recomputation: less room makes more values computed again, and the plan fits") {
  const Graph graph = build_graph(parse_network(kShortcut, "test"));
  const ExecutionPlan whole = make_execution_plan(graph, kTraining);
  const uint64_t peak = predict_peak(graph, whole, kBatch, rounded);
  double seconds = 0;
  for (const double part : {1.0, 0.9, 0.8}) {
    CAPTURE(part);
    const auto room = static_cast<uint64_t>(part * static_cast<double>(peak));
    const FittedPlan fitted = fit_plan(graph, whole,
                                       {.batch = kBatch,
                                        .room = room,
                                        .rates = {.multiply_adds = 1e10, .bytes = 1e10},
                                        .rounded = rounded});
    CHECK(fitted.leaves == 0);
    CHECK(fitted.peak <= room);
    CHECK(fitted.peak == predict_peak(graph, fitted.plan, kBatch, rounded));
    REQUIRE(fitted.seconds);
    CHECK(*fitted.seconds >= seconds);
    seconds = *fitted.seconds;
  }
}

TEST_CASE("recomputation: a training on the CPU needs no files, and computes the same bits") {
  for (const uint64_t moved :
       test::check_with_less_memory(Device::cpu(), kShortcut, std::array{0.9, 0.8}))
    CHECK(moved == 0);
  for (const uint64_t moved :
       test::check_with_less_memory(Device::cpu(), kTwoHeads, std::array{0.95, 0.9}))
    CHECK(moved == 0);
}

TEST_CASE("memory model: a backward pass from one of two outputs fits the predicted bytes") {
  test::WithTunePolicy policy({TuneMode::off});
  Device::cpu().workspace().set_limit(0);
  const auto json = [](const char* outputs) {
    std::string text = kLargeHead;
    return text.replace(text.find("%s"), 2, outputs);
  };
  const std::string both = json(R"(, "outputs": {"first": "f", "second": "s"})");
  const Graph graph = build_graph(parse_network(both, "test"));
  const ExecutionPlan plan = make_execution_plan(
      graph, {.phase = Phase::train, .backward = true, .input_gradients = true});
  const uint64_t predicted = predict_peak(graph, plan, kBatch, rounded);
  CAPTURE(predicted);
  const auto expected =
      gradients_of_first_output(json(R"(, "outputs": {"first": "f"})"), predicted * 2);
  const auto gradients = gradients_of_first_output(both, predicted * 11 / 10);
  for (const auto& gradient : gradients) {
    const std::string& name = gradient.first;
    const std::vector<float>& values = gradient.second;
    CAPTURE(name);
    const bool of_other_head = name[0] >= 'g';
    CHECK(values == (of_other_head ? std::vector<float>(values.size()) : expected.at(name)));
  }
  Device::cpu().workspace().set_limit({});
}

TEST_CASE("memory model: a training fits the predicted bytes, and not much less") {
  test::WithTunePolicy policy({TuneMode::off});
  const Device device = Device::cpu();  // without a folder for files, nothing leaves it
  device.workspace().set_limit(0);
  Network network = Network::parse(kShortcut, "test", device);
  uint64_t parameters = 0;
  for (const Parameter& parameter : network.parameters()) parameters += parameter.value.bytes();
  const Graph graph = build_graph(network.spec());
  const ExecutionPlan plan =
      make_execution_plan(graph, {.phase = Phase::train, .loss = true, .backward = true});
  const uint64_t predicted = predict_peak(
      graph, plan, kBatch, [&](uint64_t bytes) { return device.memory().rounded(bytes); });
  CAPTURE(predicted);
  CHECK_NOTHROW(train(kShortcut, device, predicted * 11 / 10 + 2 * parameters));
  CHECK_THROWS_AS(train(kShortcut, device, predicted * 7 / 10), OutOfMemory);
  device.memory().set_budget({});
  device.workspace().set_limit({});
}

}  // namespace kaiseki::nn
