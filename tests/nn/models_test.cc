// SPDX-License-Identifier: MIT
// Checks shapes, parameters and multiply-adds of the networks in models/, layer by layer, against
// PyTorch (tests/reference/make_network_cases.py) and published totals.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/error.h"
#include "nn/network.h"
#include "tests/support/reference.h"
#include "tests/support/source_dir.h"

using namespace kaiseki;
namespace fs = std::filesystem;

namespace {

const fs::path kSource = test::source_dir();

struct Published {
  const char* network;
  int64_t parameters, multiply_adds;
};

// AlexNet: Caffe's reference model has 243,860,896 bytes of parameters; the multiply-adds of its
// layers are in Sze et al. 2017, table II (724 M). VGG-16: Simonyan and Zisserman 2014, table 2
// (138 M), and 15.5 G. GoogLeNet: Caffe's deploy model has 6,998,552 parameters, and the two
// auxiliary classifiers 3,188,840 and 3,190,888; Szegedy et al. 2014, table 1, has 1.5 G without
// them. ResNets: torchvision's tables, 11,689,512 and 25,557,032; 1.81 G and 4.09 G. MobileNet:
// Howard et al. 2017, table 4 (4.2 M, 569 M). SqueezeNet 1.1: torchvision's table, 1,235,496 and
// 0.35 G.
const Published kPublished[] = {
    {"alexnet", 60'965'224, 724'406'816},
    {"vgg16", 138'357'544, 15'470'264'320},
    {"googlenet", 6'998'552 + 3'188'840 + 3'190'888, 1'591'044'096},
    {"resnet18", 11'689'512, 1'814'073'344},
    {"resnet50", 25'557'032, 4'089'184'256},
    {"mobilenet", 4'231'976, 568'740'352},
    {"squeezenet", 1'235'496, 349'151'936},
};

struct Counts {
  std::string shape;
  int64_t parameters = 0, multiply_adds = 0;
};

std::map<std::string, Counts> counts_of(const std::string& network) {
  std::ifstream file(kSource / "tests/reference/networks" / network / "layers.txt");
  std::map<std::string, Counts> layers;
  std::string name;
  Counts counts;
  while (file >> name >> counts.shape >> counts.parameters >> counts.multiply_adds)
    layers[name] = counts;
  return layers;
}

std::string text_of(const Shape& shape) {
  std::string text;
  for (int64_t dim : shape) text += (text.empty() ? "" : "x") + std::to_string(dim);
  return text;
}

nn::NetworkSummary summary_of(const std::string& network) {
  return nn::summarize(kSource / "models" / (network + ".json"));
}

}  // namespace

TEST_CASE("models: each layer has PyTorch's shape, parameters and multiply-adds") {
  for (const Published& published : kPublished) {
    CAPTURE(published.network);
    const std::map<std::string, Counts> expected = counts_of(published.network);
    std::set<std::string> found;
    for (const nn::LayerSummary& layer : summary_of(published.network).layers) {
      CAPTURE(layer.name);
      const auto at = expected.find(layer.name);
      if (at == expected.end()) {
        CHECK(layer.parameters == 0);
        CHECK(layer.multiply_adds == 0);
        continue;
      }
      found.insert(layer.name);
      std::string shape = text_of(layer.output);
      CHECK(shape == at->second.shape);
      CHECK(layer.parameters == at->second.parameters);
      CHECK(layer.multiply_adds == at->second.multiply_adds);
    }
    CHECK(found.size() == expected.size());
    CHECK(expected.size() >= 13);
  }
}

TEST_CASE("models: parameters and multiply-adds agree with published totals") {
  for (const Published& published : kPublished) {
    CAPTURE(published.network);
    const nn::NetworkSummary summary = summary_of(published.network);
    int64_t parameters = 0, multiply_adds = 0;
    for (const nn::LayerSummary& layer : summary.layers) {
      parameters += layer.parameters;
      multiply_adds += layer.multiply_adds;
    }
    CHECK(parameters == published.parameters);
    CHECK(multiply_adds == published.multiply_adds);
    CHECK(summary.name == published.network);
    CHECK(summary.output == Shape{1000});
  }
}

TEST_CASE("models: layers agree with published tables") {
  auto check = [](const char* network, const std::map<std::string, int64_t>& table, auto what) {
    CAPTURE(network);
    size_t found = 0;
    for (const nn::LayerSummary& layer : summary_of(network).layers) {
      const auto at = table.find(layer.name);
      if (at == table.end()) continue;
      CAPTURE(layer.name);
      CHECK(what(layer) == at->second);
      ++found;
    }
    CHECK(found == table.size());
  };
  const auto parameters = [](const nn::LayerSummary& layer) { return layer.parameters; };
  const auto multiply_adds = [](const nn::LayerSummary& layer) { return layer.multiply_adds; };
  // Krizhevsky et al. 2012, section 3.5: kernels of each layer
  check("alexnet",
        {{"conv1", 96 * 11 * 11 * 3 + 96},
         {"conv2", 256 * 5 * 5 * 48 + 256},
         {"conv3", 384 * 3 * 3 * 256 + 384},
         {"conv4", 384 * 3 * 3 * 192 + 384},
         {"conv5", 256 * 3 * 3 * 192 + 256},
         {"fc6", 37'752'832},
         {"fc7", 16'781'312},
         {"fc8", 4'097'000}},
        parameters);
  // The same network's work, in millions: 105, 224, 150, 112, 75, 37.7, 16.8, 4.1
  check("alexnet",
        {{"conv1", 105'415'200},
         {"conv2", 223'948'800},
         {"conv3", 149'520'384},
         {"conv4", 112'140'288},
         {"conv5", 74'760'192},
         {"fc6", 37'748'736},
         {"fc7", 16'777'216},
         {"fc8", 4'096'000}},
        multiply_adds);
  // Howard et al. 2017, table 1: filter shapes and input sizes
  check("mobilenet",
        {{"conv1", 3 * 3 * 3 * 32 * 112 * 112},
         {"conv_dw_1", 3 * 3 * 32 * 112 * 112},
         {"conv_pw_1", 32 * 64 * 112 * 112},
         {"conv_dw_2", 3 * 3 * 64 * 56 * 56},
         {"conv_pw_5", 256 * 256 * 28 * 28},
         {"conv_dw_6", 3 * 3 * 256 * 14 * 14},
         {"conv_pw_11", 512 * 512 * 14 * 14},
         {"conv_pw_12", 512 * 1024 * 7 * 7},
         {"conv_pw_13", 1024 * 1024 * 7 * 7},
         {"fc", 1024 * 1000}},
        multiply_adds);
}

TEST_CASE("models: parameters of GoogLeNet's inception modules agree with the paper roughly") {
  // Szegedy et al. 2014, table 1, in units of 1024. The table does not define its counts. They
  // differ by up to 8 % from the layer sizes in the same table, which are checked above.
  const std::map<std::string, double> table = {
      {"inception_3a", 159}, {"inception_3b", 380},  {"inception_4a", 364},
      {"inception_4b", 437}, {"inception_4c", 463},  {"inception_4d", 580},
      {"inception_4e", 840}, {"inception_5a", 1072}, {"inception_5b", 1388}};
  std::map<std::string, double> sums;
  for (const nn::LayerSummary& layer : summary_of("googlenet").layers)
    sums[layer.name.substr(0, layer.name.find('/'))] += static_cast<double>(layer.parameters);
  for (const auto& row : table) {
    CAPTURE(row.first);
    CHECK(sums[row.first] / 1024 == doctest::Approx(row.second).epsilon(0.08));
  }
}
