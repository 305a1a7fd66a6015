// SPDX-License-Identifier: MIT
#include "nn/gradient_tar.h"

#include "base/error.h"
#include "nn/io/tar_tensors.h"
#include "nn/optimizer.h"
#include "tests/support/gradcheck.h"

namespace kaiseki::nn {
namespace {

using test::for_each_device;

constexpr std::string_view kNetwork = R"({"inputs": {"x": {"shape": [2, 5, 7]}}, "layers": [
  {"name": "c", "type": "convolution", "output_channels": 3, "kernel_size": 3},
  {"name": "f", "type": "fully_connected", "output_size": 5}]})";

Network make(Device device) {
  Network network = Network::parse(kNetwork, "test", device);
  network.initialize(3);
  return network;
}

Tensor pictures(int64_t count, Device device) {
  std::vector<float> values(static_cast<size_t>(count * 2 * 5 * 7));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 37 % 101) / 101;
  return Tensor::from(std::span<const float>(values), Shape{count, 2, 5, 7}, device);
}

void pass(Network& network, const Tensor& x, int64_t first, int64_t count) {
  std::vector<int32_t> labels;
  for (int64_t i = first; i < first + count; ++i) labels.push_back(static_cast<int32_t>(i % 5));
  network.forward_loss(x.slice(0, first, count),
                       Tensor::from(std::span<const int32_t>(labels), {count}, x.device()));
  network.backward();
}

std::vector<std::vector<float>> values_of(Network& network) {
  std::vector<std::vector<float>> values;
  for (const Tensor& gradient : network.gradients().values) values.push_back(gradient.to_vector());
  return values;
}

}  // namespace

TEST_CASE("gradient tar: the sum over two networks is the gradient of both halves") {
  for_each_device([](Device device) {
    const Tensor x = pictures(6, device);
    Network whole = make(device), here = make(device), there = make(device);
    whole.zero_grad();
    pass(whole, x, 0, 3);
    pass(whole, x, 3, 3);
    here.zero_grad();
    pass(here, x, 0, 3);
    there.zero_grad();
    pass(there, x, 3, 3);
    add_tar(here, gather_tar(there));
    const auto expected = values_of(whole), got = values_of(here);
    REQUIRE(got.size() == 4);
    for (size_t i = 0; i < got.size(); ++i)
      for (size_t j = 0; j < got[i].size(); ++j)
        // Both add two sums of float32, in another order than one pass over the minibatch.
        REQUIRE(got[i][j] == doctest::Approx(expected[i][j]).epsilon(1e-5));
  });
}

TEST_CASE("gradient tar: the buffer is a tar of the parameters' names") {
  Network network = make(Device::cpu());
  network.zero_grad();
  pass(network, pictures(2, Device::cpu()), 0, 2);
  const std::vector<NamedTensor> tensors = read_tar_tensors(gather_tar(network));
  REQUIRE(tensors.size() == network.parameters().size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    CHECK(tensors[i].name == network.parameters()[i].name);
    CHECK(tensors[i].value.to_vector() == network.gradients().values[i].to_vector());
  }
}

TEST_CASE("gradient tar: damaged and foreign buffers change nothing") {
  Network network = make(Device::cpu());
  network.zero_grad();
  pass(network, pictures(2, Device::cpu()), 0, 2);
  const auto before = values_of(network);
  ByteVector tar = gather_tar(network);
  CHECK_THROWS_AS(add_tar(network, ByteView(tar).first(tar.size() / 2)), ParseError);
  tar[tar.size() / 2] ^= std::byte{1};
  CHECK_THROWS_AS(add_tar(network, tar), ParseError);
  CHECK_THROWS_AS(add_tar(network, {}), ParseError);

  std::vector<NamedTensor> others;
  for (const Parameter& parameter : network.parameters())
    others.push_back({parameter.name, Tensor::full(parameter.value.shape(), 1)});
  others.back().value = Tensor::full({7}, 1);
  CHECK_THROWS_WITH_AS(add_tar(network, encode_tar_tensors(others)),
                       "gradients: index.json: expected \"f.bias\" of shape [5], got \"f.bias\" of "
                       "shape [7]",
                       ParseError);
  others.pop_back();
  CHECK_THROWS_WITH_AS(add_tar(network, encode_tar_tensors(others)),
                       "gradients: index.json: expected 4 tensors, got 3", ParseError);
  CHECK(values_of(network) == before);
}

TEST_CASE("gradient tar: gradients in an optimizer's velocity are refused") {
  Network network = make(Device::cpu());
  Optimizer momentum({.name = "momentum"});
  network.zero_grad(momentum);
  pass(network, pictures(2, Device::cpu()), 0, 2);
  CHECK_THROWS_AS(gather_tar(network), Error);
  network.zero_grad();
  const ByteVector tar = gather_tar(network);
  CHECK_NOTHROW(add_tar(network, tar));
  network.zero_grad(momentum);
  CHECK_THROWS_AS(add_tar(network, tar), Error);
}

}  // namespace kaiseki::nn
