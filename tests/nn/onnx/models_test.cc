// SPDX-License-Identifier: MIT
// Exports the networks of models/ to ONNX and imports them: layers, parameters and bits are the
// same.
#include <filesystem>
#include <regex>
#include <tuple>

#include "base/file.h"
#include "nn/network.h"
#include "nn/onnx/onnx.h"
#include "tests/support/reference.h"
#include "tests/support/slow.h"
#include "tests/support/source_dir.h"
#include "tests/support/tune_policy.h"

using namespace kaiseki;
using nn::Network;
namespace fs = std::filesystem;

namespace {

std::string text_of(const ByteVector& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Replaces 4,096 outputs by 64, because one layer's weights would have 400 MB.
std::string small(const std::string& network) {
  const fs::path file = fs::path(test::source_dir()) / "models" / (network + ".json");
  return std::regex_replace(text_of(read_file(file)), std::regex("4096"), "64");
}

/// Varies scales, biases, means and variances, which are initialized with one value.
void vary(Network& network) {
  std::vector<Tensor> all;
  for (nn::Parameter& parameter : network.parameters())
    if (parameter.value.shape().rank() == 1) all.push_back(parameter.value);
  for (nn::State& state : network.states()) all.push_back(state.value);
  for (Tensor& tensor : all) {
    float* values = tensor.mutable_data<float>();
    for (int64_t i = 0; i < tensor.size(); ++i)
      values[i] = 0.5f + 0.125f * static_cast<float>(i % 5);
  }
}

/// GoogLeNet's auxiliary classifiers.
bool is_auxiliary(const std::string& name) {
  return name.starts_with("loss1/") || name.starts_with("loss2/");
}

using Layer = std::tuple<std::string, std::string, Shape, int64_t, int64_t>;

/// Ignores losses, the softmax of a loss, and flatten layers that ONNX needs before Gemm.
std::vector<Layer> layers_of(const Network& network) {
  std::vector<Layer> layers;
  for (const nn::LayerSummary& layer : network.summary())
    if (!is_auxiliary(layer.name) && !layer.type.starts_with("softmax") && layer.type != "flatten")
      layers.emplace_back(layer.name, layer.type, layer.output, layer.parameters,
                          layer.multiply_adds);
  return layers;
}

std::vector<std::pair<std::string, Shape>> parameters_of(Network& network) {
  std::vector<std::pair<std::string, Shape>> parameters;
  for (const nn::Parameter& parameter : network.parameters())
    if (!is_auxiliary(parameter.name))
      parameters.emplace_back(parameter.name, parameter.value.shape());
  return parameters;
}

void check(const std::string& name, size_t parameters, bool runs) {
  CAPTURE(name);
  Network network = Network::parse(small(name), name, Device::cpu());
  vary(network);
  const ByteVector file = nn::encode_onnx(network);
  Network again = Network::parse(text_of(file), name + ".onnx", Device::cpu());
  CHECK(again.parameters().size() == parameters);
  CHECK(parameters_of(again) == parameters_of(network));
  CHECK(layers_of(again) == layers_of(network));
  CHECK(nn::encode_onnx(again) == file);
  if (!runs) return;
  const test::WithTunePolicy policy({TuneMode::off});
  Shape one = {1};
  for (int64_t dim : network.input_shape()) one.push_back(dim);
  const Tensor x = test::random_tensor(one, 7);
  const std::vector<float> y = network.forward(x).to_vector();
  CHECK(y.size() == 1000);
  CHECK(y[0] != y[1]);
  CHECK(again.forward(x).to_vector() == y);
}

}  // namespace

TEST_CASE("onnx: AlexNet and VGG-16 are exported and imported unchanged") {
  check("alexnet", 16, true);
  check("vgg16", 32, !KAISEKI_SLOW);
}

TEST_CASE("onnx: GoogLeNet is exported and imported without auxiliary classifiers") {
  check("googlenet", 116, true);
}

TEST_CASE("onnx: the ResNets are exported and imported unchanged") {
  check("resnet18", 62, true);
  check("resnet50", 161, !KAISEKI_SLOW);
}

TEST_CASE("onnx: MobileNet and SqueezeNet are exported and imported unchanged") {
  check("mobilenet", 83, true);
  check("squeezenet", 52, true);
}
