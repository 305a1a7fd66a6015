// SPDX-License-Identifier: MIT
// Files exported by PyTorch (tests/reference/make_onnx_cases.py), and damaged files.
#include <filesystem>
#include <set>

#include "base/file.h"
#include "nn/io/npy.h"
#include "nn/onnx/onnx.h"
#include "nn/weights.h"
#include "tests/nn/io/damage.h"
#include "tests/nn/onnx/graph.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"
#include "tests/support/source_dir.h"

using namespace kaiseki;
using namespace kaiseki::test;
using nn::Network;
namespace fs = std::filesystem;

namespace {

const fs::path kFolder = fs::path(test::source_dir()) / "tests/reference/onnx";

ByteVector two_layers() {
  OnnxFile file{.input = {-1, 2, 3, 3}};
  file.constants = {onnx_tensor("c.weight", {2, 2, 1, 1}, {1, 2, 3, 4}),
                    onnx_integers("shape", {0, -1})};
  file.nodes = {OnnxNode("Conv", {"x", "c.weight"}, "a"), OnnxNode("Reshape", {"a", "shape"}, "y")};
  return bytes_from(file.bytes());
}

void check_case(const std::string& name, Device device) {
  CAPTURE(name);
  const Tensor x = nn::read_npy(kFolder / (name + ".x.npy"));
  const Tensor y = nn::read_npy(kFolder / (name + ".y.npy"));
  Network network = Network::load(kFolder / (name + ".onnx"), device);
  CHECK(network.has_weights());
  const Tensor ours = network.forward(x);
  CHECK(ours.shape() == y.shape());
  // y has float64. f32 rounds with 6e-8, in up to ten layers with sums of up to 150 terms.
  check_close(ours, doubles(y), 1e-5, 1e-5);
  // The batch size in the file is not a limit.
  CHECK(network.forward(x.slice(0, 0, 1)).dim(0) == 1);
}

void parse(ByteView bytes) { nn::read_onnx(bytes, "damaged.onnx"); }

}  // namespace

TEST_CASE("onnx: networks exported by PyTorch give PyTorch's results") {
  std::set<std::string> opsets, networks;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".onnx") continue;
    const std::string name = entry.path().stem().string();
    networks.insert(name.substr(0, name.find('_')));
    opsets.insert(name.substr(name.find('_') + 1));
    check_case(name, Device::cpu());
  }
  CHECK(networks.size() == 7);
  CHECK(opsets == std::set<std::string>{"7", "8", "9", "10", "11", "12", "13"});
  for_each_device([](Device device) { check_case("preactivated_13", device); });
}

TEST_CASE("onnx: an imported network trains, and its weights have the layers' names") {
  Network network = Network::load(kFolder / "vgg_11.onnx", Device::cpu());
  CHECK(network.outputs_logits());
  CHECK(network.parameters()[0].name == "0.weight");  // as in PyTorch's state_dict
  const Tensor x = nn::read_npy(kFolder / "vgg_11.x.npy");
  const std::vector<int32_t> labels = {1, 3};
  auto [loss, output] =
      network.forward_loss(x, Tensor::from(std::span<const int32_t>(labels), {2}, Device::cpu()));
  network.zero_grad();
  network.backward();
  CHECK(loss.item() > 0);

  Network other = Network::load(kFolder / "vgg_11.onnx", Device::cpu());
  other.initialize(9);
  CHECK(nn::load_weights(kFolder / "vgg_11.onnx", other).complete());
  CHECK(other.parameters()[0].value.to_vector() == network.parameters()[0].value.to_vector());
}

TEST_CASE("onnx: a file is recognized by its content or name") {
  const ByteVector file = two_layers();
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  CHECK(Network::parse(text, "net", Device::cpu()).input_shape() == Shape{2, 3, 3});
  CHECK_THROWS_WITH_AS(Network::parse("", "empty.onnx", Device::cpu()),
                       doctest::Contains("empty.onnx: graph: expected a graph, got none"),
                       ParseError);
  CHECK_THROWS_AS(Network::parse("{}", "net.onnx", Device::cpu()), ParseError);
}

TEST_CASE("onnx: names with invalid bytes become valid names for weights") {
  OnnxFile file{.input = {-1, 1, 1, 1}};
  const std::string letters(119, 'a');
  file.constants = {onnx_tensor("w", {1, 1, 1, 1}, {1})};
  file.nodes = {OnnxNode("Conv", {"x", "w"}, letters + "\xc3\xa9"),  // not UTF-8 if truncated
                OnnxNode("Conv", {letters + "\xc3\xa9", "w"}, "caf\xe9\xc3\xa9\n"),
                OnnxNode("Conv", {"caf\xe9\xc3\xa9\n", "w"}, "y")};
  Network network = file.load();
  CHECK(network.parameters()[0].name == letters + ".weight");
  CHECK(network.parameters()[1].name == "caf?\xc3\xa9?.weight");
  CHECK_NOTHROW(nn::check_storable_names(network, {}));
  CHECK_THROWS_AS(nn::check_storable_names(network, {{"class_names", "caf\xe9"}}), Error);
  CHECK(nn::encode_weights("safetensors", network).size() > 3 * sizeof(float));
}

TEST_CASE("onnx: shared constants over 8 times the file's size throw ParseError") {
  OnnxFile file{.input = {-1, 32}};
  file.constants = {onnx_tensor("w", {32, 32}, std::vector<float>(32 * 32, 1))};
  const auto grow = [&](int nodes) {
    for (int i = static_cast<int>(file.nodes.size()); i < nodes; ++i)
      file.nodes.emplace_back("MatMul", std::vector<std::string>{i ? std::to_string(i) : "x", "w"},
                              std::to_string(i + 1));
    file.outputs = {std::to_string(nodes)};
  };
  grow(6);
  CHECK(file.load().parameters().size() == 6);
  grow(100);
  CHECK_THROWS_WITH_AS(file.load(), doctest::Contains("8 times the file"), ParseError);
}

TEST_CASE("onnx: damaged files throw ParseError and allocate little memory") {
  const ByteVector file = two_layers();
  check_truncated(parse, file);
  check_changed(parse, file, 3000);
  for (const char* name : {"resnet_12.onnx", "googlenet_10.onnx"})
    check_changed(parse, read_file(kFolder / name), 300);
}
