// SPDX-License-Identifier: MIT
// Networks with tensors that alone are larger than the device. All steps run in pieces.
#include <doctest/doctest.h>

#include "tests/matrix/backend/opencl/support.h"
#include "tests/nn/less_memory.h"
#include "tests/support/simulated_link.h"

namespace kaiseki::nn {
namespace {

using test::Trained;

constexpr uint64_t kMiB = uint64_t{1} << 20;

/// The outputs of the first steps have 9.3 MiB each.
constexpr const char* kLarge = R"({"inputs": {"x": {"shape": [3, 92, 92]}}, "layers": [
    {"name": "a", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 24},
    {"name": "n", "type": "batch_normalization"}, {"name": "r", "type": "relu"},
    {"name": "b", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 24},
    {"name": "m", "type": "batch_normalization"},
    {"name": "s", "type": "add", "inputs": ["m", "r"]}, {"name": "q", "type": "relu"},
    {"name": "d", "type": "dropout", "ratio": 0.25},
    {"name": "p", "type": "max_pooling", "kernel_size": 3, "stride": 2},
    {"name": "l", "type": "local_response_normalization"},
    {"name": "e", "type": "convolution", "kernel_size": 1, "output_channels": 16},
    {"name": "t", "type": "tanh"},
    {"name": "c", "type": "concatenation", "inputs": ["t", "l"]},
    {"name": "v", "type": "average_pooling", "kernel_size": 2, "stride": 2},
    {"name": "g", "type": "global_pooling"},
    {"name": "f", "type": "fully_connected", "output_size": 5}]})";

/// Convolutions with a pooling in the same pass. The first one's output has 10.1 MiB.
constexpr const char* kPooled = R"({"inputs": {"x": {"shape": [3, 96, 96]}}, "layers": [
    {"name": "a", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 24},
    {"name": "r", "type": "relu"},
    {"name": "p", "type": "max_pooling", "kernel_size": 2, "stride": 2},
    {"name": "b", "type": "convolution", "kernel_size": 3, "padding": 1, "output_channels": 24},
    {"name": "q", "type": "relu"},
    {"name": "o", "type": "max_pooling", "kernel_size": 2, "stride": 2},
    {"name": "f", "type": "fully_connected", "output_size": 8}, {"name": "t", "type": "tanh"},
    {"name": "h", "type": "fully_connected", "output_size": 5}]})";

/// Pieces add the gradients of filters in another order, and may use other solvers.
void check_close(const Trained& less, const Trained& whole) {
  REQUIRE(less.losses.size() == whole.losses.size());
  for (size_t i = 0; i < whole.losses.size(); ++i)
    CHECK(less.losses[i] == doctest::Approx(whole.losses[i]).epsilon(1e-4));
  REQUIRE(less.parameters.size() == whole.parameters.size());
  for (size_t i = 0; i < whole.parameters.size(); ++i)
    REQUIRE(less.parameters[i] == doctest::Approx(whole.parameters[i]).epsilon(1e-3));
}

void check_in_pieces(Device device, const char* json, uint64_t least) {
  test::WithTunePolicy policy({TuneMode::off});
  device.workspace().set_limit(0);
  const Trained whole = test::train(json, device, {});
  CHECK(whole.peak > 3 * least);
  for (const uint64_t budget : {least * 3 / 2, least}) {
    CAPTURE(budget);
    const Trained less = test::train(json, device, budget);
    CHECK(less.peak <= budget);
    check_close(less, whole);
  }
  device.workspace().set_limit({});
}

}  // namespace

TEST_CASE("out of core: a network with tensors larger than the device trains on OpenCL") {
  opencl::OpenclBackend* backend = test::opencl_or_null();
  if (!backend) return;
  for (const opencl::Style style : {opencl::Style::cpu, opencl::Style::gpu}) {
    CAPTURE(static_cast<int>(style));
    test::WithStyle with(backend->opencl(), style);
    check_in_pieces(Device::opencl(0), kLarge, 5 * kMiB);
    check_in_pieces(Device::opencl(0), kPooled, 6 * kMiB);
  }
}

TEST_CASE("out of core: a network with tensors larger than the memory trains on the CPU") {
  const test::SimulatedLink link(16e9);
  check_in_pieces(Device::cpu(), kLarge, 5 * kMiB);
  check_in_pieces(Device::cpu(), kPooled, 6 * kMiB);
}

}  // namespace kaiseki::nn
