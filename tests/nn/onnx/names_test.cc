// SPDX-License-Identifier: MIT
// The names of layers and outputs survive an import and an export.
#include <doctest/doctest.h>

#include "nn/onnx/onnx.h"
#include "tests/nn/onnx/graph.h"
#include "tests/support/gradcheck.h"

using namespace kaiseki;
using namespace kaiseki::test;
using nn::Network;

namespace {

using Names = std::vector<std::string>;

Network read(const ByteVector& bytes) {
  return Network::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "again.onnx",
                        Device::cpu());
}

Names layers_of(const Network& network) {
  Names names;
  for (const nn::LayerSummary& layer : network.summary()) names.push_back(layer.name);
  return names;
}

/// Exports the network and imports it. The names of the outputs and their bits must stay.
Network check_again(Network& network) {
  randomize(network, 3);
  const ByteVector file = nn::encode_onnx(network);
  Network again = read(file);
  CHECK(nn::encode_onnx(again) == file);
  CHECK(again.output_names() == network.output_names());
  Shape batch = {2};
  for (int64_t dim : network.input_shape()) batch.push_back(dim);
  const Tensor x = random_tensor(batch, 1);
  auto ours = network.forward({{"x", x}}, nn::Phase::test);
  for (const auto& [name, y] : again.forward({{"x", x}}, nn::Phase::test))
    CHECK(y.to_vector() == ours.at(name).to_vector());
  Network json = Network::parse(network.json(), "again.json", Device::cpu());
  CHECK(json.output_names() == network.output_names());
  return again;
}

Network parse(const std::string& layers, const std::string& outputs) {
  return Network::parse(R"({"inputs": {"x": {"shape": [4]}}, "layers": [)" + layers +
                            "], \"outputs\": " + outputs + "}",
                        "test", Device::cpu());
}

const std::string kTwo = R"({"name": "f", "type": "fully_connected", "output_size": 3},
                            {"name": "r", "type": "relu"})";

}  // namespace

TEST_CASE("onnx: outputs keep the file's names, besides the layers' names") {
  OnnxFile file{.input = {-1, 2}, .outputs = {"out1", "out0"}};
  file.constants = {onnx_tensor("fc.weight", {2, 2}, {1, 2, 3, 4})};
  file.nodes = {OnnxNode("MatMul", {"x", "fc.weight"}, "out0"), OnnxNode("Relu", {"out0"}, "out1")};
  Network network = file.load();
  CHECK(network.output_names() == Names{"out1", "out0"});
  CHECK(layers_of(network) == Names{"fc", "out1"});
  CHECK(layers_of(check_again(network)) == Names{"fc", "out1"});
  const Tensor x = Tensor::from({1, -1}, {1, 2});
  CHECK(network.forward({{"x", x}}, nn::Phase::test).at("out0").size() == 2);

  file.outputs = {"out0", "out0"};
  CHECK_THROWS_WITH_AS(file.load(), doctest::Contains("\"out0\": two outputs have this name"),
                       ParseError);
}

TEST_CASE("onnx: layers have their own names if equal weights are one initializer") {
  // The graph has the form in which torch.onnx.export writes two batch normalizations and a
  // convolution with initial values.
  OnnxFile file{.input = {-1, 2, 3, 3}};
  file.constants = {onnx_tensor("bn1.weight", {2}, {1, 1}), onnx_tensor("bn1.bias", {2}, {0, 0}),
                    onnx_tensor("conv1.weight", {2, 2, 1, 1}, {1, 2, 3, 4})};
  const auto copy = [&](const std::string& from, const std::string& to) {
    file.nodes.emplace_back("Identity", Names{from}, to);
  };
  for (const char* name : {"bn2.weight", "bn2.running_var", "bn1.running_var"})
    copy("bn1.weight", name);
  for (const char* name : {"bn2.bias", "bn2.running_mean", "bn1.running_mean"})
    copy("bn1.bias", name);
  copy("conv1.weight", "conv2.weight");
  copy("bn1.weight", "scale");
  const auto normalize = [&](const std::string& x, const std::string& scale, const std::string& of,
                             const std::string& y) {
    file.nodes.emplace_back(
        "BatchNormalization",
        Names{x, scale, of + ".bias", of + ".running_mean", of + ".running_var"}, y);
  };
  file.nodes.emplace_back("Conv", Names{"x", "conv1.weight"}, "a");
  normalize("a", "bn1.weight", "bn1", "b");
  file.nodes.emplace_back("Conv", Names{"b", "conv2.weight"}, "c");
  normalize("c", "bn2.weight", "bn2", "d");
  normalize("d", "scale", "bn1", "y");  // not a name of weights: the initializer's name is used
  CHECK(layers_of(file.load()) == Names{"conv1", "bn1", "conv2", "bn2", "bn1_2"});
}

TEST_CASE("onnx: an output that another output or an input equals is exported as a copy") {
  Network same = parse(kTwo + R"(, {"name": "noise", "type": "dropout", "phase": "train"})",
                       R"(["noise", "r", "f", "x"])");
  Network again = check_again(same);
  CHECK(again.output_names() == Names{"noise", "r", "f", "x"});
  CHECK(layers_of(again) == Names{"f", "r"});
  Network noise = parse(R"({"name": "noise", "type": "dropout", "phase": "train"},
      {"name": "f", "type": "fully_connected", "output_size": 3})",
                        R"({"a": "noise", "b": "f", "c": "f"})");
  check_again(noise);
}

TEST_CASE("network: a layer that \"outputs\" names gives its own output, not probabilities") {
  const std::string loss = R"(, {"name": "l", "type": "softmax_cross_entropy", "inputs": "f"})";
  const Tensor x = random_tensor({2, 4}, 1);
  for (const char* outputs : {R"(["r", "f"])", R"(["f", "r"])", R"({"logits": "f"})"}) {
    CAPTURE(outputs);
    Network network = parse(kTwo + loss, outputs), plain = parse(kTwo, "[\"f\"]");
    randomize(network, 3), randomize(plain, 3);
    auto found = network.forward({{"x", x}}, nn::Phase::test);
    const Tensor& logits = found.contains("f") ? found.at("f") : found.at("logits");
    CHECK(logits.to_vector() == plain.forward(x).to_vector());
    check_again(network);
  }
}
