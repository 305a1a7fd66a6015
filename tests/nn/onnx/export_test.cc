// SPDX-License-Identifier: MIT
// Exports every layer and the shipped networks to ONNX, imports them, and compares the bits.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "nn/io/npy.h"
#include "nn/onnx/onnx.h"
#include "nn/registry.h"
#include "nn/weights.h"
#include "tests/support/gradcheck.h"
#include "tests/support/source_dir.h"

using namespace kaiseki;
using namespace kaiseki::test;
using nn::Network;
namespace fs = std::filesystem;

namespace {

Network read(const ByteVector& bytes) {
  return Network::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "again.onnx",
                        Device::cpu());
}

void randomize_all(Network& network) {
  randomize(network, 3);
  for (nn::State& state : network.states()) {
    float* values = state.value.mutable_data<float>();
    for (int64_t i = 0; i < state.value.size(); ++i)
      values[i] = 0.5f + 0.25f * static_cast<float>(i % 5);
  }
}

/// Checks that the outputs have the same bits, and that a second export has the same bytes.
void check_round_trip(const std::string& json) {
  CAPTURE(json);
  Network network = Network::parse(json, "test", Device::cpu());
  randomize_all(network);
  const ByteVector file = nn::encode_onnx(network);
  CHECK(nn::encode_onnx(network) == file);
  Network again = read(file);
  CHECK(again.has_weights());
  CHECK(nn::encode_onnx(again) == file);
  CHECK(again.input_shape() == network.input_shape());
  CHECK(again.output_shape() == network.output_shape());
  CHECK(again.outputs_logits() == network.outputs_logits());
  Shape batch = {3};
  for (int64_t dim : network.input_shape()) batch.push_back(dim);
  const Tensor x = random_tensor(batch, 5);
  CHECK(again.forward(x).to_vector() == network.forward(x).to_vector());
}

/// Writes the file, an input and the network's output for tests/cli/onnx_test.py, which computes
/// the file with NumPy.
void write_case(Network& network, const std::string& name) {
  const char* const folder = std::getenv("KAISEKI_TEST_ONNX_FOLDER");
  if (!folder) return;
  Shape batch = {3};
  for (int64_t dim : network.input_shape()) batch.push_back(dim);
  const Tensor x = random_tensor(batch, 5);
  const std::string stem = (fs::path(folder) / name).string();
  write_file_atomic(stem + ".onnx", nn::encode_onnx(network));
  nn::write_npy(stem + ".x.npy", x);
  nn::write_npy(stem + ".y.npy", network.forward(x));
}

std::string one(const Shape& input, const std::string& layer) {
  Shape batch = {1};
  for (int64_t dim : input) batch.push_back(dim);
  return network_json(batch, layer);
}

}  // namespace

TEST_CASE("onnx: every layer is exported and imported unchanged") {
  const std::vector<std::string> layers = {
      R"({"name": "q", "type": "convolution", "output_channels": 4, "kernel_size": 3})",
      R"({"name": "q", "type": "convolution", "output_channels": 6, "kernel_size": [3, 2],
          "stride": [2, 1], "padding": [2, 1], "dilation": [1, 2], "groups": 3, "bias": false})",
      R"({"name": "q", "type": "convolution", "output_channels": 2, "kernel_size": 2,
          "bias": "position"})",
      R"({"name": "q", "type": "max_pooling", "kernel_size": 2})",
      R"({"name": "q", "type": "max_pooling", "kernel_size": [3, 2], "stride": 2, "padding": 1})",
      R"({"name": "q", "type": "max_pooling", "kernel_size": 2, "stride": 2, "padding": 1,
          "ceil_mode": true})",
      R"({"name": "q", "type": "max_pooling", "kernel_size": 3, "stride": 2, "ceil_mode": true})",
      R"({"name": "q", "type": "average_pooling", "kernel_size": 3, "stride": 2, "padding": 1})",
      R"({"name": "q", "type": "average_pooling", "kernel_size": 3, "stride": 2, "padding": 1,
          "count_padding": true})",
      R"({"name": "q", "type": "average_pooling", "kernel_size": 2, "ceil_mode": true})",
      R"({"name": "q", "type": "global_pooling"})",
      R"({"name": "q", "type": "global_pooling", "kind": "max"})",
      R"({"name": "q", "type": "fully_connected", "output_size": 4})",
      R"({"name": "q", "type": "fully_connected", "output_size": 4, "bias": false})",
      R"({"name": "q", "type": "relu"})",
      R"({"name": "q", "type": "tanh"})",
      R"({"name": "q", "type": "leaky_relu", "slope": 0.2})",
      R"({"name": "q", "type": "sigmoid"})",
      R"({"name": "q", "type": "sigmoid", "gain": 2})",
      R"({"name": "q", "type": "softmax"})",
      R"({"name": "q", "type": "dropout", "ratio": 0.3})",
      R"({"name": "q", "type": "batch_normalization", "eps": 1e-3, "momentum": 0.2})",
      R"({"name": "q", "type": "local_response_normalization", "size": 3, "alpha": 0.1, "k": 2})",
      R"({"name": "p", "type": "relu"}, {"name": "q", "type": "concatenation", "axis": 1,
          "inputs": ["p", "p", "x"]})",
      R"({"name": "p", "type": "relu"}, {"name": "q", "type": "add", "inputs": ["p", "x"]})",
      R"({"name": "p", "type": "relu"}, {"name": "q", "type": "add", "inputs": ["p", "x", "p"]})",
      R"({"name": "q", "type": "flatten"})",
      R"({"name": "p", "type": "fully_connected", "output_size": 4},
         {"name": "q", "type": "softmax_cross_entropy"})",
      R"({"name": "p", "type": "fully_connected", "output_size": 4},
         {"name": "q", "type": "mean_squared_error"})"};
  for (const std::string& layer : layers) check_round_trip(one({3, 7, 6}, layer));
  // Layers that are exported, but that nn/onnx/operators.cc does not read back. None yet.
  const std::vector<std::string> export_only = {};
  std::vector<std::string> exported = layers;
  exported.insert(exported.end(), export_only.begin(), export_only.end());
  for (size_t i = 0; i < exported.size(); ++i) {
    CAPTURE(exported[i]);
    Network network = Network::parse(one({3, 7, 6}, exported[i]), "test", Device::cpu());
    randomize_all(network);
    CHECK(nn::encode_onnx(network) == nn::encode_onnx(network));
    write_case(network, text_from(i, "_", network.spec().layers.back().type));
  }
  const std::set<std::string> without_onnx = {};  // layers that ONNX cannot say
  const ByteVector page = read_file(fs::path(test::source_dir()) / "docs" / "onnx.md");
  const std::string_view text(reinterpret_cast<const char*>(page.data()), page.size());
  const std::string_view written = text.substr(text.find("| layer | operators |"));
  for (const std::string& type : nn::layer_types()) {
    const auto has_type = [&](const std::string& layer) {
      return layer.find("\"" + type + "\"") != layer.npos;
    };
    const bool is_exported = std::ranges::any_of(exported, has_type);
    CHECK_MESSAGE((is_exported || without_onnx.contains(type)), "add ", type,
                  " to layers, export_only or without_onnx");
    if (is_exported && !nn::make_layer(type)->is_loss())
      CHECK_MESSAGE(written.find("`" + type + "`") != written.npos,
                    "docs/onnx.md: expected a row of the layer ", type);
  }
}

TEST_CASE("onnx: a normalization along another axis is between two transpositions") {
  for (const std::string axis : {"1", "2"})
    for (const std::string next : {"", R"(, {"type": "relu"}, {"type": "fully_connected",
                                             "output_size": 2})"})
      check_round_trip(one({3, 7, 6}, R"({"name": "b", "type": "batch_normalization", "axis": )" +
                                          axis + "}" + next));
  check_round_trip(
      network_json({1, 5, 4}, R"({"name": "b", "type": "batch_normalization", "axis": 1})"));
  Network network =
      Network::parse(one({3, 7, 6}, R"({"name": "b", "type": "batch_normalization", "axis": 2})"),
                     "test", Device::cpu());
  const ByteVector file = nn::encode_onnx(network);
  CHECK(read(file).json().find(R"("axis": 2)") != std::string::npos);
}

TEST_CASE("onnx: imported layers state no defaults") {
  const std::vector<std::string> layers = {
      R"({"type": "convolution", "output_channels": 4, "kernel_size": 3})",
      R"({"type": "max_pooling", "kernel_size": [3, 2]})",
      R"({"type": "average_pooling", "kernel_size": 2})",
      R"({"type": "fully_connected", "output_size": 4})",
      R"({"type": "leaky_relu"})",
      R"({"type": "sigmoid"})",
      R"({"type": "dropout"})",
      R"({"type": "batch_normalization"})",
      R"({"type": "local_response_normalization"})"};
  for (const std::string& layer : layers) {
    CAPTURE(layer);
    Network network = Network::parse(one({3, 7, 6}, layer), "test", Device::cpu());
    randomize_all(network);
    const Network again = read(nn::encode_onnx(network));
    CHECK(again.spec().layers.back().params == network.spec().layers[0].params);
  }
}

TEST_CASE("onnx: the shipped networks are exported and imported unchanged") {
  for (const char* name : {"lenet", "lenet-dag", "cifar"}) {
    const ByteVector json =
        read_file(fs::path(test::source_dir()) / "models" / (std::string(name) + ".json"));
    check_round_trip({reinterpret_cast<const char*>(json.data()), json.size()});
  }
}

TEST_CASE("onnx: export omits layers of training, keeps order and names of outputs") {
  Network network = Network::parse(R"({"inputs": {"x": {"shape": [5]}}, "layers": [
      {"name": "noise", "type": "dropout", "phase": "train"},
      {"name": "a", "type": "fully_connected", "output_size": 3},
      {"name": "b", "type": "tanh", "inputs": "noise"},
      {"name": "unread", "type": "relu", "inputs": "a"},
      {"name": "aux", "type": "softmax_cross_entropy", "phase": "train", "weight": 0.3}],
      "outputs": ["b", "a"]})",
                                   "test", Device::cpu());
  randomize_all(network);
  Network again = read(nn::encode_onnx(network));
  std::vector<std::string> names;
  for (const nn::LayerSummary& layer : again.summary()) names.push_back(layer.name);
  CHECK(names == std::vector<std::string>{"a", "b"});
  const Tensor x = random_tensor({2, 5}, 1);
  CHECK(again.forward(x).to_vector() == network.forward(x).to_vector());
  const auto outputs = again.forward({{"x", x}}, nn::Phase::test);
  CHECK(outputs.at("a").shape() == Shape{2, 3});
  CHECK(outputs.size() == 2);
}

TEST_CASE("onnx: export keeps a mean squared error loss and metadata") {
  Network network =
      Network::parse(one({4}, R"({"name": "f", "type": "fully_connected", "output_size": 3},
                  {"name": "s", "type": "sigmoid"}, {"type": "mean_squared_error"})"),
                     "test", Device::cpu());
  const nn::Metadata metadata{{"class_names", "ein\nÄpfel"}, {"mean", "0.5"}};
  Network again = read(nn::encode_onnx(network, metadata));
  CHECK(again.metadata().at("class_names") == "ein\nÄpfel");
  CHECK(again.metadata().at("mean") == "0.5");
  const Tensor x = random_tensor({2, 4}, 1), t = random_tensor({2, 3}, 2);
  CHECK(again.forward_loss(x, t).loss.item() == network.forward_loss(x, t).loss.item());
}

TEST_CASE("onnx: exporting a layer without an ONNX operator throws Error with its name") {
  const auto refusal = [](const std::string& layer) {
    Network network = Network::parse(one({3, 7, 6}, layer), "test", Device::cpu());
    try {
      nn::encode_onnx(network);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal(R"({"name": "q", "type": "local_response_normalization", "size": 4})") ==
        "[onnx] expected windows of an odd number of channels, got layer q of type "
        "local_response_normalization");
  CHECK(refusal(R"({"name": "q", "type": "average_pooling", "kernel_size": 3, "stride": 3,
      "padding": 1, "ceil_mode": true, "count_padding": true})")
            .find("got layer q of type average_pooling") != std::string::npos);
  Network broken =
      Network::parse(one({2}, R"({"name": "f", "type": "fully_connected", "output_size": 1})"), "t",
                     Device::cpu());
  broken.parameters()[0].value.mutable_data<float>()[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH_AS(nn::save_weights("w.onnx", broken), doctest::Contains("f.weight[1]"), Error);
}
