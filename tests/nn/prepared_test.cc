// SPDX-License-Identifier: MIT
// Repeated predictions cache the transformed filters. The cache must not use old weights.
#include <doctest/doctest.h>

#include <vector>

#include "matrix/memory/workspace.h"
#include "nn/network.h"
#include "nn/optimizer.h"
#include "nn/weights.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::nn {
namespace {

constexpr const char* kNetwork = R"({"inputs": {"x": {"shape": [64, 12, 12]}}, "layers": [
    {"name": "conv1", "type": "convolution", "output_channels": 64, "kernel_size": 3, "padding": 1},
    {"name": "act1", "type": "relu"},
    {"name": "fc2", "type": "fully_connected", "output_size": 3},
    {"name": "probability", "type": "softmax"}]})";

/// Predicts three times. All results must equal those of a new network with the same weights.
std::vector<float> predict(Network& network, const Tensor& x) {
  Network fresh = Network::parse(kNetwork, "test", network.device());
  REQUIRE(load_weights(encode_weights("safetensors", network), fresh).complete());
  const std::vector<float> expected = fresh.forward(x).to_vector();
  for (int i = 0; i < 3; ++i) CHECK(network.forward(x).to_vector() == expected);
  return expected;
}

}  // namespace

TEST_CASE("prepared filters: predictions use new weights after a step, a load or initialize()") {
  test::WithTunePolicy policy({TuneMode::off});
  test::for_each_device([](Device device) {
    device.workspace().set_limit({});
    Network network = Network::parse(kNetwork, "test", device);
    const Tensor x = test::random_tensor({2, 64, 12, 12}, 1, device);
    const std::vector<int32_t> classes = {2, 0};
    const Tensor labels = Tensor::from(std::span<const int32_t>(classes), {2}, device);
    const std::vector<float> first = predict(network, x);
    CHECK(device.workspace().derived_bytes() > 0);
    const auto weights = encode_weights("safetensors", network);

    Optimizer optimizer(OptimizerOptions{.name = "momentum"});
    network.zero_grad(optimizer);
    network.forward_loss(x, labels);
    network.backward();
    optimizer.step(network.parameters(), network.gradients(), 0.1);
    CHECK(predict(network, x) != first);

    network.initialize(5);
    CHECK(predict(network, x) != first);

    load_weights(weights, network);
    CHECK(predict(network, x) == first);
    device.workspace().set_limit({});
  });
}

}  // namespace kaiseki::nn
