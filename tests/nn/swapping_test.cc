// SPDX-License-Identifier: MIT
// Networks whose tensors do not fit a device together. Tensors wait on the host, or a minibatch
// runs in parts.
#include "nn/swapping.h"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <span>

#include "base/error.h"
#include "matrix/backend/opencl/device.h"
#include "matrix/memory/spill.h"
#include "matrix/memory/workspace.h"
#include "nn/memory_model.h"
#include "nn/network.h"
#include "nn/optimizer.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/nn/train/fixture.h"
#include "tests/support/reference.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::nn {
namespace {

constexpr int64_t kBatch = 12;

/// Every kind of tensor waits for the backward pass: inputs, outputs, masks, places of maxima, and
/// the gradient of a shortcut.
constexpr const char* kShortcut = R"({"inputs": {"x": {"shape": [4, 40, 40]}}, "layers": [
    {"name": "a", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "n", "type": "batch_normalization"}, {"name": "r", "type": "relu"},
    {"name": "b", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "m", "type": "batch_normalization"},
    {"name": "s", "type": "add", "inputs": ["m", "r"]}, {"name": "q", "type": "relu"},
    {"name": "e", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "g", "type": "tanh"},
    {"name": "h", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "i", "type": "batch_normalization"}, {"name": "j", "type": "sigmoid"},
    {"name": "k", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "o", "type": "batch_normalization"}, {"name": "t", "type": "relu"},
    {"name": "d", "type": "dropout", "ratio": 0.25},
    {"name": "p", "type": "max_pooling", "kernel_size": 2, "stride": 2},
    {"name": "c", "type": "convolution", "kernel_size": 5, "padding": 2, "output_channels": 24},
    {"name": "l", "type": "local_response_normalization"},
    {"name": "f", "type": "fully_connected", "output_size": 5}]})";

/// The gradient of a sum is one tensor for both of its inputs. The convolution reads it first, and
/// then its own input, which is on the host.
constexpr const char* kSums = R"({"inputs": {"x": {"shape": [4, 40, 40]}}, "layers": [
    {"name": "a", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "b", "type": "convolution", "kernel_size": 1, "output_channels": 16},
    {"name": "s", "type": "add", "inputs": ["b", "a"]},
    {"name": "c", "type": "convolution", "kernel_size": 1, "output_channels": 16},
    {"name": "t", "type": "add", "inputs": ["c", "s"]}, {"name": "u", "type": "tanh"},
    {"name": "d", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "v", "type": "add", "inputs": ["u", "d"]}, {"name": "w", "type": "sigmoid"},
    {"name": "f", "type": "fully_connected", "output_size": 5}]})";

struct Trained {
  std::vector<float> losses, parameters;
  uint64_t peak = 0, moved = 0;  // bytes
  bool operator==(const Trained& other) const {
    return losses == other.losses && parameters == other.parameters;
  }
};

/// Trains three steps with a budget of `bytes` beside what is in use.
Trained train(const char* json, Device device, std::optional<uint64_t> bytes) {
  Allocator& memory = device.memory();
  memory.trim();
  const uint64_t before = memory.account().in_use;
  if (bytes) memory.set_budget(before + *bytes);
  memory.reset_peak();
  const uint64_t moved = transfer_count().to_host_bytes;
  Trained result;
  {
    Network network = Network::parse(json, "test", device);
    network.initialize(3);
    Optimizer optimizer;
    const Shape sample = network.input_shape();
    const Tensor x = test::random_tensor({kBatch, sample[0], sample[1], sample[2]}, 1);
    std::vector<int32_t> classes;
    for (int32_t i = 0; i < kBatch; ++i) classes.push_back(i % 5);
    const Tensor labels = Tensor::from<int32_t>(classes, Shape{kBatch}, Device::cpu());
    for (int i = 0; i < 3; ++i) {
      network.zero_grad(optimizer);
      result.losses.push_back(network.forward_loss(x, labels).loss.item());
      network.backward();
      optimizer.step(network.parameters(), network.gradients(), 0.01);
    }
    result.moved = transfer_count().to_host_bytes - moved;
    for (const Parameter& parameter : network.parameters())
      for (float value : parameter.value.to_vector()) result.parameters.push_back(value);
    result.peak = memory.account().peak - before;
  }
  memory.set_budget({});
  return result;
}

/// The smallest part of the memory must make tensors move.
void check_with_less_memory(Device device, const char* json, std::span<const double> parts) {
  test::WithTunePolicy policy({TuneMode::off});
  device.workspace().set_limit(0);  // other solvers add in another order
  train(json, device, {});          // keeps what is made once
  const Trained whole = train(json, device, {});
  for (const double part : parts) {
    CAPTURE(part);
    const auto budget = static_cast<uint64_t>(part * static_cast<double>(whole.peak));
    const Trained less = train(json, device, budget);
    CHECK(less == whole);
    CHECK(less.peak <= budget);
    if (part == parts.back()) CHECK(less.moved > whole.moved);
  }
  device.workspace().set_limit({});
}

void check_with_less_memory(Device device) {
  check_with_less_memory(device, kShortcut, std::array{0.8, 0.65});
  check_with_less_memory(device, kSums, std::array{0.9, 0.8});
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

TEST_CASE("swapping: a training on the CPU computes the same bits with files") {
  const TestFolder folder("spill");
  set_spill_folder(folder.path);
  check_with_less_memory(Device::cpu());
  CHECK(std::filesystem::is_empty(folder.path));  // the files have no names
  // A convolution that does not fit is no reason for pieces: only devices have them.
  CHECK_THROWS_AS(train(kShortcut, Device::cpu(), uint64_t{3} << 20), OutOfMemory);
  Device::cpu().memory().set_budget({});
  set_spill_folder({});
}

TEST_CASE("spilling: a folder that does not exist is refused") {
  CHECK_THROWS_WITH_AS(set_spill_folder("/no/such/folder"), doctest::Contains("No such file"),
                       Error);
  set_spill_folder({});
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
  Swapping swapping(run, device, history, waiting);
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
  CHECK_THROWS_WITH_AS(train(kShortcut, device, uint64_t{1} << 20),
                       doctest::Contains("out of memory: asked for"), OutOfMemory);
  device.memory().set_budget({});
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
