// SPDX-License-Identifier: MIT
// Tests results and memory of convolution fused with max pooling.
#include <doctest/doctest.h>

#include "matrix/memory/allocator.h"
#include "matrix/threads.h"
#include "nn/network.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"
#include "tests/support/tune_policy.h"

namespace kaiseki {
namespace {

constexpr int64_t kBatch = 16, kSide = 32, kChannels = 32;

/// With `apart`, the convolution's output is also an output of the network. The pooling is then a
/// separate step.
nn::Network make(Device device, const std::string& before, const std::string& after, bool apart) {
  const std::string text =
      R"({"inputs": {"x": {"shape": [16, 32, 32]}}, "layers": [
          {"name": "c", "type": "convolution", "kernel_size": 3, "padding": 1,
           "output_channels": 32})" +
      before + R"(, {"name": "p", "type": "max_pooling", "kernel_size": 2})" + after +
      R"(, {"name": "f", "type": "fully_connected", "output_size": 5}], "outputs": ["f")" +
      (apart ? R"(, "c"]})" : "]}");
  nn::Network network = nn::Network::parse(text, "test", device);
  network.initialize(3);
  return network;
}

const std::string kRelu = R"(, {"name": "r", "type": "relu"})";
const std::string kTanh = R"(, {"name": "t", "type": "tanh"})";
const std::string kLeaky = R"(, {"name": "l", "type": "leaky_relu"})";

Tensor labels(Device device) {
  std::vector<int32_t> values(kBatch);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int32_t>(i % 5);
  return Tensor::from(std::span<const int32_t>(values), {kBatch}, device);
}

Tensor pictures(Device device) {
  return test::random_tensor({kBatch, 16, kSide, kSide}, 1, device);
}

}  // namespace

TEST_CASE("fused pooling: gives the same bits as separate layers") {
  test::WithTunePolicy policy({TuneMode::off});
  test::for_each_device([](Device device) {
    const Tensor x = pictures(device), targets = labels(device);
    for (const auto& [before, after] : std::vector<std::pair<std::string, std::string>>{
             {"", ""}, {kRelu, ""}, {"", kRelu}, {"", kTanh}, {kLeaky, ""}}) {
      const std::string layers = before + after;
      CAPTURE(layers);
      nn::Network one = make(device, before, after, false), two = make(device, before, after, true);
      CHECK(one.forward(x).to_vector() == two.forward(x).to_vector());
      Tensor gradients[2];
      for (nn::Network* network : {&one, &two}) {
        network->forward_loss(x, targets, nn::Phase::train, true);
        network->zero_grad();
        gradients[network == &two] = network->backward();
      }
      CHECK(gradients[0].to_vector() == gradients[1].to_vector());
      for (size_t i = 0; i < one.parameters().size(); ++i) {
        const Tensor a = one.gradients().values[i], b = two.gradients().values[i];
        if (one.parameters()[i].name == "c.bias")  // the sum has fewer terms
          test::check_close(a, test::doubles(b), 1e-5);
        else
          CHECK(a.to_vector() == b.to_vector());
      }
    }
  });
}

TEST_CASE("fused pooling: the CPU allocates no tensor of the convolution's size") {
  test::WithTunePolicy policy({TuneMode::off});
  set_thread_count(2);
  const Device device = Device::cpu();
  Allocator& allocator = device.memory();
  const Tensor x = pictures(device), targets = labels(device);
  constexpr uint64_t kWhole = sizeof(float) * kBatch * kChannels * kSide * kSide;
  constexpr uint64_t kPooled = kWhole / 4;
  const auto peak = [&](bool apart, bool train) {
    const auto run = [&] {
      nn::Network network = make(device, kRelu, "", apart);
      if (!train) return static_cast<void>(network.forward(x));
      network.forward_loss(x, targets);
      network.zero_grad();
      network.backward();
    };
    run();  // allocates the workspace
    allocator.trim();
    allocator.reset_peak();
    const uint64_t before = allocator.account().peak;
    run();
    return allocator.account().peak - before;
  };
  CHECK(peak(false, false) < 2 * kPooled);  // weights included
  CHECK(peak(true, false) > kWhole + kPooled);
  CHECK(peak(false, true) < 4 * kPooled);  // maxima, positions and their gradients
  CHECK(peak(true, true) > kWhole + 2 * kPooled);
  set_thread_count(0);
}

}  // namespace kaiseki
