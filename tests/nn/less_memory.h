// SPDX-License-Identifier: MIT
// Trainings in less memory than they need in core, compared with the training in core.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "matrix/cost/rates.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/buffer.h"
#include "matrix/memory/workspace.h"
#include "nn/network.h"
#include "nn/optimizer.h"
#include "tests/support/reference.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::test {

inline constexpr int64_t kBatch = 12;

/// Every kind of tensor waits for the backward pass: inputs, outputs, masks, places of maxima, and
/// the gradient of a shortcut.
inline constexpr const char* kShortcut = R"({"inputs": {"x": {"shape": [4, 40, 40]}}, "layers": [
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
inline constexpr const char* kSums = R"({"inputs": {"x": {"shape": [4, 40, 40]}}, "layers": [
    {"name": "a", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "b", "type": "convolution", "kernel_size": 1, "output_channels": 16},
    {"name": "s", "type": "add", "inputs": ["b", "a"]},
    {"name": "c", "type": "convolution", "kernel_size": 1, "output_channels": 16},
    {"name": "t", "type": "add", "inputs": ["c", "s"]}, {"name": "u", "type": "tanh"},
    {"name": "d", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "v", "type": "add", "inputs": ["u", "d"]}, {"name": "w", "type": "sigmoid"},
    {"name": "f", "type": "fully_connected", "output_size": 5}]})";

/// Two outputs with two losses. Both heads read the trunk's sum and the first head's sum. So the
/// gradients of these sums come from several steps, and some share one tensor.
inline constexpr const char* kTwoHeads = R"({"inputs": {"x": {"shape": [4, 40, 40]}}, "layers": [
    {"name": "a", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "n", "type": "batch_normalization"}, {"name": "r", "type": "relu"},
    {"name": "b", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "m", "type": "batch_normalization"},
    {"name": "s", "type": "add", "inputs": ["m", "r"]}, {"name": "q", "type": "relu"},
    {"name": "c", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16},
    {"name": "t", "type": "tanh"},
    {"name": "u", "type": "add", "inputs": ["t", "q"]},
    {"name": "d", "type": "dropout", "ratio": 0.25},
    {"name": "f", "type": "fully_connected", "output_size": 5},
    {"name": "k", "type": "softmax_cross_entropy"},
    {"name": "e", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 16,
     "inputs": ["q"]},
    {"name": "o", "type": "batch_normalization"},
    {"name": "v", "type": "add", "inputs": ["o", "u", "q"]}, {"name": "w", "type": "sigmoid"},
    {"name": "p", "type": "max_pooling", "kernel_size": 2, "stride": 2},
    {"name": "g", "type": "fully_connected", "output_size": 5},
    {"name": "h", "type": "mean_squared_error", "weight": 0.3}],
    "outputs": {"first": "f", "second": "g"}})";

struct Trained {
  std::vector<float> losses, gradients, parameters;  // of all steps, and after the last
  uint64_t peak = 0, moved = 0;                      // bytes
  bool operator==(const Trained& other) const {
    return losses == other.losses && gradients == other.gradients && parameters == other.parameters;
  }
};

/// Trains three steps with a budget of `bytes` beside the memory in use.
inline Trained train(const char* json, Device device, std::optional<uint64_t> bytes) {
  Allocator& memory = device.memory();
  memory.trim();
  const uint64_t before = memory.account().in_use;
  if (bytes) memory.set_budget(before + *bytes);
  memory.reset_peak();
  const uint64_t moved = transfer_count().to_host_bytes;
  Trained result;
  {
    nn::Network network = nn::Network::parse(json, "test", device);
    network.initialize(3);
    nn::Optimizer optimizer;
    const Shape sample = network.input_shape();
    const Tensor x = random_tensor({kBatch, sample[0], sample[1], sample[2]}, 1);
    std::vector<int32_t> classes;
    for (int32_t i = 0; i < kBatch; ++i) classes.push_back(i % 5);
    const Tensor labels = Tensor::from<int32_t>(classes, Shape{kBatch}, Device::cpu());
    for (int i = 0; i < 3; ++i) {
      network.zero_grad(optimizer);
      result.losses.push_back(network.forward_loss(x, labels).loss.item());
      network.backward();
      for (const Tensor& gradient : network.gradients().values)
        for (float value : gradient.to_vector()) result.gradients.push_back(value);
      optimizer.step(network.parameters(), network.gradients(), 0.01);
    }
    result.moved = transfer_count().to_host_bytes - moved;
    for (const nn::Parameter& parameter : network.parameters())
      for (float value : parameter.value.to_vector()) result.parameters.push_back(value);
    result.peak = memory.account().peak - before;
  }
  memory.set_budget({});
  return result;
}

/// Rates with very slow computing, so that plans prefer the link, and the opposite rates.
inline constexpr DeviceRates kFastLink{
    .multiply_adds = 1, .bytes = 1, .link = LinkRates{1e12, 1e12, true}};
inline constexpr DeviceRates kSlowLink{
    .multiply_adds = 1e12, .bytes = 1e12, .link = LinkRates{1, 1, true}};

/// The plans in its lifetime count on these rates.
struct WithRates {
  explicit WithRates(const DeviceRates& rates) { set_device_rates(rates); }
  ~WithRates() { set_device_rates({}); }
};

/// Trains with parts of the memory that the training needs in core. Returns the bytes that moved to
/// the host beyond those of the training in core.
inline std::vector<uint64_t> check_with_less_memory(Device device, const char* json,
                                                    std::span<const double> parts) {
  WithTunePolicy policy({TuneMode::off});
  device.workspace().set_limit(0);  // other solvers add in another order
  train(json, device, {});          // allocates memory that is kept
  const Trained whole = train(json, device, {});
  std::vector<uint64_t> moved;
  for (const double part : parts) {
    CAPTURE(part);
    const auto budget = static_cast<uint64_t>(part * static_cast<double>(whole.peak));
    const Trained less = train(json, device, budget);
    CHECK(less == whole);
    CHECK(less.peak <= budget);
    moved.push_back(less.moved - whole.moved);
  }
  device.workspace().set_limit({});
  return moved;
}

}  // namespace kaiseki::test
