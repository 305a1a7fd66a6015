// SPDX-License-Identifier: MIT
#include "nn/gradient_hook.h"

#include <doctest/doctest.h>

#include <vector>

#include "nn/network.h"

namespace kaiseki::nn {

TEST_CASE("gradient hook: each gradient comes once, complete, from the last layer to the first") {
  // A head without loss has no backward pass: its gradients are zeros.
  Network network = Network::parse(R"({"inputs": {"x": {"shape": [2, 6, 6]}}, "layers": [
      {"name": "a", "type": "convolution", "kernel_size": 3, "output_channels": 4},
      {"name": "n", "type": "batch_normalization"}, {"name": "r", "type": "relu"},
      {"name": "f", "type": "fully_connected", "output_size": 3},
      {"name": "h", "type": "fully_connected", "output_size": 2, "inputs": ["r"]}],
      "outputs": ["f", "h"]})",
                                   "test", Device::cpu());
  network.initialize(3);
  std::vector<const float*> places;
  std::vector<std::vector<float>> values;
  network.set_gradient_hook([&](std::span<Tensor> gradients) {
    for (Tensor& one : gradients) {
      places.push_back(one.mutable_data<float>());
      values.push_back(one.to_vector());
    }
  });
  const Tensor x = Tensor::full({5, 2, 6, 6}, 0.5f, Device::cpu());
  const std::vector<int32_t> classes = {0, 1, 2, 0, 1};
  const Tensor labels = Tensor::from(std::span<const int32_t>(classes), {5}, Device::cpu());
  for (int pass = 0; pass < 2; ++pass) {
    places.clear(), values.clear();
    network.zero_grad();
    network.forward_loss(x, labels);
    network.backward();
    const auto& gradients = network.gradients().values;
    // f.weight, f.bias; n; a; then h, which the pass does not reach.
    const std::vector<size_t> order = {4, 5, 2, 3, 0, 1, 6, 7};
    REQUIRE(places.size() == order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      CAPTURE(i);
      CHECK(places[i] == gradients[order[i]].data<float>());
      CHECK(values[i] == gradients[order[i]].to_vector());
    }
    for (const float value : values[6]) CHECK(value == 0);
  }
  network.set_gradient_hook({});
  places.clear();
  network.forward_loss(x, labels);
  network.backward();
  CHECK(places.empty());
}

}  // namespace kaiseki::nn
