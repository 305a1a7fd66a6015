// SPDX-License-Identifier: MIT
// Compares layers with results of PyTorch, written by tests/reference/make_torch_cases.py.
#include <filesystem>

#include "nn/io/npy.h"
#include "nn/weights.h"
#include "tests/support/gradcheck.h"
#include "tests/support/source_dir.h"

using namespace kaiseki;
using namespace kaiseki::test;
namespace fs = std::filesystem;

namespace {

/// Relative 1e-4: both sides use f32 and sum up to 231 terms of about 1 in different orders.
void check_agrees(const Tensor& ours, const fs::path& file) {
  CAPTURE(file);
  const Tensor theirs = nn::read_npy(file);
  CHECK(ours.shape() == theirs.shape());
  check_close(ours, doubles(theirs), 1e-4, 1e-5);
}

void check_case(const fs::path& folder, Device device) {
  nn::Network network = nn::Network::load(folder / "net.json", device);
  if (fs::exists(folder / "weights.safetensors"))
    nn::load_weights(folder / "weights.safetensors", network);
  network.zero_grad();
  const Tensor x = nn::read_npy(folder / "x.npy");
  if (fs::exists(folder / "gy.npy")) {
    check_agrees(network.forward(x, nn::Phase::train), folder / "y.npy");
    check_agrees(network.backward(nn::read_npy(folder / "gy.npy")), folder / "grads" / "input.npy");
  } else {
    const bool labels = fs::exists(folder / "labels.npy");
    const auto [loss, output] =
        network.forward_loss(x, nn::read_npy(folder / (labels ? "labels.npy" : "targets.npy")));
    check_agrees(output, folder / "y.npy");
    check_agrees(loss.reshape({1}), folder / "loss.npy");
    network.backward();
  }
  for (size_t i = 0; i < network.parameters().size(); ++i)
    check_agrees(network.gradients().values[i],
                 folder / "grads" / (network.parameters()[i].name + ".npy"));
}

}  // namespace

TEST_CASE("torch: every layer agrees, forward and backward, on every device") {
  int cases = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(test::source_dir()) / "tests/reference/data")) {
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    for_each_device([&](Device device) { check_case(entry.path(), device); });
    ++cases;
  }
  CHECK(cases >= 26);
}
