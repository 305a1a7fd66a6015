// SPDX-License-Identifier: MIT
#include "dist/train/split.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/file.h"
#include "nn/parse_network.h"
#include "tests/dist/train/fixture.h"
#include "tests/support/read_batch.h"
#include "tests/support/source_dir.h"

namespace kaiseki::dist {
namespace {

NetworkSplit split_model(const std::string& name) {
  const std::string file = test::source_dir() + "/models/" + name + ".json";
  const ByteVector bytes = read_file(file, 1 << 20);
  return split_network(nn::parse_network(as_text(bytes), file));
}

}  // namespace

TEST_CASE("backbone and head together have the outputs and parameters of the network") {
  nn::Network whole = nn::Network::parse(kSmall, "test", Device::cpu());
  whole.initialize(2);
  const NetworkSplit split = split_network(whole.spec());
  CHECK(split.border == "pool2");
  CHECK(split.shape == Shape{8, 4, 4});
  nn::Network backbone = nn::Network::build(split.backbone, Device::cpu());
  nn::Network head = nn::Network::build(split.head, Device::cpu());
  share_tensors(whole, backbone);
  share_tensors(whole, head);
  CHECK(backbone.parameters().size() + head.parameters().size() == whole.parameters().size());
  int64_t parameters = 0;
  for (nn::Parameter& one : backbone.parameters()) parameters += one.value.size();
  CHECK(parameters == split.backbone_parameters);
  const std::vector<int64_t> indices = {0, 1, 2};
  const Tensor images = test::read_batch(*small_digits(3), indices).inputs(Device::cpu());
  const std::vector<float> expected = whole.forward(images).to_vector();
  const std::vector<float> found = head.forward(backbone.forward(images)).to_vector();
  for (size_t i = 0; i < expected.size(); ++i)
    CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-5));
  whole.parameters()[0].value.mutable_data<float>()[0] = 42;
  CHECK(backbone.parameters()[0].value.to_vector()[0] == 42);
}

TEST_CASE("the paper's networks are split before their first fully connected layer") {
  const NetworkSplit lenet = split_model("lenet");
  CHECK(lenet.shape.elements() == 800);
  CHECK(lenet.backbone_parameters == 25'570);
  CHECK(lenet.head_parameters == 405'510);
  const NetworkSplit cifar = split_model("cifar");
  CHECK(cifar.shape.elements() == 320);
  CHECK(cifar.backbone_parameters == 19'256);
  CHECK(cifar.head_parameters == 3'210);
  const NetworkSplit alexnet = split_model("alexnet");
  CHECK(alexnet.shape.elements() == 9216);
  CHECK(alexnet.backbone_parameters == 2'334'080);
  CHECK(alexnet.head_parameters == 58'631'144);
}

TEST_CASE("a border that does not split the network is refused with advice") {
  const nn::NetworkSpec branches =
      nn::parse_network(R"({"inputs": {"x": {"shape": [1, 4, 4]}}, "layers": [
    {"name": "a", "type": "convolution", "output_channels": 2, "kernel_size": 3, "padding": 1},
    {"name": "b", "type": "convolution", "output_channels": 2, "kernel_size": 3, "padding": 1},
    {"name": "sum", "type": "add", "inputs": ["a", "b"]},
    {"name": "fc", "type": "fully_connected", "output_size": 3}]})",
                        "test");
  CHECK(split_network(branches).border == "sum");
  CHECK_THROWS_WITH_AS(split_network(branches, "b"), doctest::Contains("layer sum"), Error);
  CHECK_THROWS_WITH_AS(split_network(branches, "zzz"), doctest::Contains("'zzz'"), Error);
  CHECK_THROWS_WITH_AS(split_network(branches, "fc"), doctest::Contains("layers behind"), Error);
  const nn::NetworkSpec all =
      nn::parse_network(R"({"inputs": {"x": {"shape": [1, 4, 4]}}, "layers": [
    {"name": "a", "type": "convolution", "output_channels": 2, "kernel_size": 3}]})",
                        "test");
  CHECK_THROWS_WITH_AS(split_network(all), doctest::Contains("use the mode data"), Error);
}

}  // namespace kaiseki::dist
