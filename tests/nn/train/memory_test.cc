// SPDX-License-Identifier: MIT
// Runs two networks in one process with the least device memory that they need without workspace.
// Automatic workspace must not make them fail.
#include <doctest/doctest.h>

#include "base/error.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/workspace.h"
#include "nn/network.h"
#include "nn/optimizer.h"
#include "tests/support/cache_folder.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"
#include "tests/support/tune_policy.h"

namespace kaiseki {
namespace {

nn::Network convolutions(int channels, Device device) {
  const std::string conv = R"("type": "convolution", "kernel_size": 3, "padding": 1,
      "output_channels": )" +
                           std::to_string(channels);
  return nn::Network::parse(
      R"({"inputs": {"x": {"shape": [3, 20, 20]}}, "layers": [{"name": "a", )" + conv +
          R"(}, {"name": "b", )" + conv +
          R"(}, {"name": "f", "type": "fully_connected", "output_size": 5}]})",
      "test", device);
}

/// Trains one network and evaluates the other, in turn. Returns the losses.
std::vector<float> run(Device device) {
  // The second convolution of `other` is large enough to be measured in every mode but `off`.
  nn::Network train = convolutions(24, device), other = convolutions(96, device);
  nn::Optimizer optimizer;
  const Tensor x = test::random_tensor({6, 3, 20, 20}, 1, Device::cpu());
  const Tensor many = test::random_tensor({9, 3, 20, 20}, 2, Device::cpu());
  Tensor labels = Tensor::zeros({6}, DType::i32, Device::cpu());
  std::vector<float> losses;
  for (int i = 0; i < 4; ++i) {
    train.zero_grad();
    losses.push_back(train.forward_loss(x, labels).loss.item());
    train.backward();
    optimizer.step(train.parameters(), train.gradients(), 0.01);
    if (i % 2) losses.push_back(other.forward(many).to_vector()[0]);
  }
  return losses;
}

}  // namespace

TEST_CASE("memory: two networks run in the least memory with automatic workspace") {
  test::for_each_device([](Device device) {
    Allocator& allocator = device.memory();
    Workspace& workspace = device.workspace();
    const auto with = [&](TuneMode mode, std::optional<uint64_t> limit, uint64_t budget) {
      test::CacheFolder nothing_known("memory");
      test::WithTunePolicy policy({mode});
      workspace.set_limit(limit);
      allocator.trim();
      allocator.set_budget(budget);
      allocator.reset_peak();
      const auto losses = run(device);
      allocator.set_budget({});
      return losses;
    };
    // The least memory for runs without workspace, to within 32 KiB.
    const uint64_t used = allocator.account().in_use;
    uint64_t fails = used, fits = used + (64 << 20);
    const std::vector<float> expected = with(TuneMode::off, 0, fits);
    while (fits - fails > 32 << 10) {
      const uint64_t middle = (fits + fails) / 2;
      try {
        with(TuneMode::off, 0, middle);
        fits = middle;
      } catch (const OutOfMemory&) {
        fails = middle;
      }
    }
    for (TuneMode mode :
         {TuneMode::off, TuneMode::hybrid, TuneMode::amortised, TuneMode::exhaustive}) {
      for (const uint64_t budget : {fits, fits + (fits - used) / 10, fits + 2 * (fits - used)}) {
        CAPTURE(static_cast<int>(mode));
        CAPTURE(budget - used);
        const std::vector<float> losses = with(mode, {}, budget);
        CHECK(allocator.account().peak <= budget);
        REQUIRE(losses.size() == expected.size());
        for (size_t i = 0; i < losses.size(); ++i)  // four steps with other solvers
          CHECK(losses[i] == doctest::Approx(expected[i]).epsilon(1e-3));
      }
    }
    workspace.set_limit({});
  });
}

}  // namespace kaiseki
