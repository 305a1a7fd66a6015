// SPDX-License-Identifier: MIT
// Compares one training step of each network in models/ with PyTorch in double
// (tests/reference/make_network_cases.py). The batch has two pictures of full size.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/file.h"
#include "matrix/cost/rates.h"
#include "matrix/memory/allocator.h"
#include "nn/network.h"
#include "nn/parse_network.h"
#include "nn/planner.h"
#include "nn/prediction.h"
#include "nn/recomputation.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"
#include "tests/support/source_dir.h"

using namespace kaiseki;
using namespace kaiseki::test;
namespace fs = std::filesystem;

namespace {

constexpr int kBatch = 2;
/// Both sides use f32. Sums have up to 25,088 terms, and networks up to fifty layers.
constexpr double kForward = 2e-5;
/// Relative to a gradient's norm. Rounding can change the sign of a ReLU's input near 0, or the
/// position of a maximum. This changes one element's part of the gradient. PyTorch's step in float
/// differs by up to 9e-3 from its step in double (last column of step.txt).
constexpr double kGradient = 2e-2;
/// Relative to the root mean square of the elements. Such a change affects few elements.
constexpr double kElement = 0.1;

/// The hash function of the Python script.
class Hash {
 public:
  explicit Hash(const std::string& name) {
    for (const char c : name) seed_ = (seed_ ^ static_cast<uint8_t>(c)) * 16777619u;
  }
  uint32_t bits(size_t i) const {
    uint32_t h = static_cast<uint32_t>(i) * 2654435769u + seed_;
    h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
    h = (h ^ (h >> 13)) * 0xC2B2AE35u;
    return h ^ (h >> 16);
  }
  float uniform(size_t i) const { return static_cast<float>(bits(i) >> 8) * 0x1p-23f - 1; }

 private:
  uint32_t seed_ = 2166136261u;
};

void start(const std::string& network, nn::Parameter& parameter) {
  const Hash hash(parameter.name);
  const Shape& shape = parameter.value.shape();
  const auto count = static_cast<size_t>(shape.elements());
  const auto he = static_cast<float>(std::sqrt(6.0 * static_cast<double>(shape[0]) / count));
  const bool scale = parameter.name.ends_with(".weight");
  float* values = parameter.value.overwrite<float>();
  for (size_t i = 0; i < count; ++i) {
    const float u = hash.uniform(i);
    if (shape.rank() > 1)
      values[i] = u * he;
    else if (scale)
      values[i] = u * 0.25f + 0.75f;
    else if (network.starts_with("resnet"))
      values[i] = u < 0 ? u - 2 : u + 2;
    else
      values[i] = network == "mobilenet" ? u * 0.5f + 2 : u * 0.125f;
  }
}

/// One line of step.txt.
struct Expected {
  std::string kind, name;
  double norm = 0, product = 0, elements[4] = {}, error = 0;
};

std::vector<Expected> read_step(const std::string& network) {
  std::ifstream file(fs::path(test::source_dir()) / "tests/reference/networks" / network /
                     "step.txt");
  std::vector<Expected> lines;
  for (Expected e; file >> e.kind >> e.name >> e.norm >> e.product >> e.elements[0] >>
                   e.elements[1] >> e.elements[2] >> e.elements[3] >> e.error;)
    lines.push_back(e);
  return lines;
}

void check_agrees(const Tensor& tensor, const Expected& expected) {
  CAPTURE(expected.kind);
  CAPTURE(expected.name);
  const Tensor host = tensor.to(Device::cpu());
  const float* values = host.data<float>();
  const auto count = static_cast<size_t>(host.size());
  const Hash product_with(expected.name + " product"), chosen(expected.name + " elements");
  double squares = 0, product = 0;
  for (size_t i = 0; i < count; ++i) {
    squares += double{values[i]} * values[i];
    product += double{values[i]} * product_with.uniform(i);
  }
  const bool gradient = expected.kind == "gradient";
  const double tolerance = (gradient ? kGradient : kForward) * expected.norm;
  CHECK(std::abs(std::sqrt(squares) - expected.norm) <= tolerance);
  CHECK(std::abs(product - expected.product) <= tolerance);
  const double of_elements = (gradient ? kElement : kForward) * expected.norm / std::sqrt(count);
  for (size_t k = 0; k < 4; ++k) {
    const double theirs = expected.elements[k];
    CHECK(std::abs(values[chosen.bits(k) % count] - theirs) <=
          of_elements + (gradient ? kGradient : kForward) * std::abs(theirs));
  }
}

void check_step(const std::string& name, Device device) {
  CAPTURE(name);
  std::ifstream file(fs::path(test::source_dir()) / "models" / (name + ".json"));
  std::stringstream text;
  text << file.rdbuf();
  const std::string json =  // its random numbers differ from PyTorch's
      std::regex_replace(text.str(), std::regex(R"("ratio": 0\.\d)"), "\"ratio\": 0");
  nn::Network network = nn::Network::parse(json, name, device);
  std::map<std::string, Tensor> ours;
  for (nn::Parameter& parameter : network.parameters()) start(name, parameter);

  Shape shape = {kBatch};
  for (int64_t dim : network.input_shape()) shape.push_back(dim);
  Tensor x(shape, DType::f32, device), labels({kBatch}, DType::i32, device);
  const Hash image("image"), label("labels");
  float* pixels = x.overwrite<float>();
  for (size_t i = 0; i < static_cast<size_t>(x.size()); ++i) pixels[i] = image.uniform(i);
  int32_t* classes = labels.overwrite<int32_t>();
  for (size_t i = 0; i < kBatch; ++i) classes[i] = static_cast<int32_t>(label.bits(i) % 1000);

  network.zero_grad();
  const nn::Network::Loss loss = network.forward_loss(x, labels);
  network.backward();
  ours["loss train"] = loss.loss.reshape({1});
  ours["output probabilities"] = loss.output;
  for (size_t i = 0; i < network.parameters().size(); ++i)
    ours["gradient " + network.parameters()[i].name] = network.gradients().values[i];
  for (const nn::State& state : network.states()) ours["state " + state.name] = state.value;
  ours["loss test"] = network.forward_loss(x, labels, nn::Phase::test).loss.reshape({1});

  const std::vector<Expected> expected = read_step(name);
  CHECK(expected.size() == ours.size());
  for (const Expected& one : expected) {
    const auto at = ours.find(one.kind + " " + one.name);
    CAPTURE(one.name);
    REQUIRE(at != ours.end());
    check_agrees(at->second, one);
  }
}

void check_everywhere(const std::string& name) {
  for_each_device([&](Device device) { check_step(name, device); });
}

}  // namespace

TEST_CASE("models: a step of AlexNet") { check_everywhere("alexnet"); }
/// Runs on the CPU only: it has the same layer types as AlexNet, and takes a minute with PoCL.
TEST_CASE("models: a step of VGG-16") { check_step("vgg16", Device::cpu()); }
TEST_CASE("models: a step of GoogLeNet") { check_everywhere("googlenet"); }
TEST_CASE("models: a step of ResNet-18") { check_everywhere("resnet18"); }
TEST_CASE("models: a step of ResNet-50") { check_everywhere("resnet50"); }
TEST_CASE("models: a step of MobileNet") { check_everywhere("mobilenet"); }
TEST_CASE("models: a step of SqueezeNet") { check_everywhere("squeezenet"); }

TEST_CASE("recomputation: whether ResNet-50 fits does not depend on the rates") {
  const std::string file = source_dir() + "/models/resnet50.json";
  for (double multiply_adds = 1e8; multiply_adds < 1e13; multiply_adds *= 1.1) {
    CAPTURE(multiply_adds);
    set_device_rates(DeviceRates{.multiply_adds = multiply_adds, .bytes = 1e10});
    CHECK(nn::predict_training(file, 32, uint64_t{1500} << 20, Device::cpu()).missing == 0);
  }
  set_device_rates({});
}

TEST_CASE("recomputation: whether ResNet-50 fits does not depend on measured times") {
  const std::string file = source_dir() + "/models/resnet50.json";
  const nn::Graph graph =
      nn::build_graph(nn::parse_network(as_text(read_file(file, 1 << 20)), file));
  const nn::ExecutionPlan plan =
      nn::make_execution_plan(graph, {.phase = nn::Phase::train, .loss = true, .backward = true});
  for (double multiply_adds = 1e8; multiply_adds < 1e13; multiply_adds *= 1.5) {
    CAPTURE(multiply_adds);
    const nn::FittedPlan fitted = nn::fit_plan(
        graph, plan,
        {.batch = 32,
         .room = uint64_t{1305} << 20,  // beside the parameters in 1,500 MiB
         .rates = {.multiply_adds = multiply_adds, .bytes = 1e10},
         .rounded = [](uint64_t bytes) { return Device::cpu().memory().rounded(bytes); },
         .known_seconds = [&](const ConvProblem& p) { return p.flops() / 2 / multiply_adds; }});
    CHECK(fitted.missing == 0);
  }
}
