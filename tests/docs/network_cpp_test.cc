// SPDX-License-Identifier: MIT
// Follows docs/network-cpp.md. This file has the page's code, and the first test compares the two
// texts.
#include <kaiseki.h>

#include <cmath>

#include "nn/parse_network.h"
#include "tests/docs/page.h"
#include "tests/support/gradcheck.h"

// clang-format off
namespace {
using namespace kaiseki;

nn::Network list() {
// page: a list of layers
nn::NetworkBuilder lenet("lenet");
lenet.input("image", {1, 28, 28});
lenet.add("convolution", {{"output_channels", 20}, {"kernel_size", 5}});
lenet.add("max_pooling", {{"kernel_size", 2}, {"stride", 2}});
lenet.add("fully_connected", {{"output_size", 500}});
lenet.add("relu");
lenet.add("fully_connected", {{"output_size", 10}});
nn::Network network = lenet.build();
// page: end
return network;
}

// page: a residual block
nn::Value residual(nn::NetworkBuilder& b, const nn::Value& x, int channels, int stride) {
  auto convolution = [&](const nn::Value& from, int size, int step) {
    const nn::Value y = b.add("convolution", from,
                              {{"output_channels", channels}, {"kernel_size", size},
                               {"stride", step}, {"padding", size / 2}, {"bias", false}});
    return b.add("batch_normalization", y);
  };
  const nn::Value first = b.add("relu", convolution(x, 3, stride));
  const nn::Value shortcut = stride == 1 ? x : convolution(x, 1, stride);
  return b.add("relu", b.add("add", {convolution(first, 3, 1), shortcut}));
}

nn::Network small_resnet() {
  nn::NetworkBuilder b("small_resnet");
  nn::Value x = b.input("image", {3, 32, 32});
  x = b.add("convolution", x, {{"output_channels", 16}, {"kernel_size", 3}, {"padding", 1}});
  x = residual(b, x, 16, 1);
  x = residual(b, x, 32, 2);
  b.add("global_pooling", x);
  b.add("fully_connected", {{"output_size", 10}});
  return b.build();
}
// page: end

// page: a layer
class MySwish : public nn::Layer {
 public:
  nn::LayerShape infer(std::span<const Shape> inputs) override {
    require(inputs.size() == 1, "my_swish", "expected one input, got ", inputs.size());
    return {.output = inputs[0]};
  }
  Tensor forward(nn::ForwardPass& pass) const override {
    return elementwise("x * sigmoid(x)", {{"x", pass.inputs[0]}});
  }
  void backward(nn::BackwardPass& pass) const override {
    if (pass.needs_gradient[0])
      pass.grad_inputs[0] =
          elementwise("dy * sigmoid(x) * (1 + x * (1 - sigmoid(x)))",
                      {{"dy", pass.grad_output}, {"x", pass.inputs[0]}});
  }
  nn::BackwardReads backward_reads() const override { return {.input = true}; }
};
// page: end

// page: a loss
class MyAbsoluteError : public nn::Layer {
 public:
  nn::LayerShape infer(std::span<const Shape> inputs) override {
    require(inputs.size() == 1, "my_absolute_error", "expected one input, got ", inputs.size());
    return {.output = {}};
  }
  Tensor forward(nn::ForwardPass& pass) const override {
    require(pass.targets.shape() == pass.inputs[0].shape(), "my_absolute_error",
            "expected targets of shape ", pass.inputs[0].shape(), ", got ", pass.targets.shape());
    const Tensor difference = pass.inputs[0] - pass.targets;
    if (pass.save_for_backward) pass.saved = {difference};
    return mean(elementwise("abs(d)", {{"d", difference}}));
  }
  void backward(nn::BackwardPass& pass) const override {
    const Tensor& difference = pass.saved[0];
    const float scale = pass.scale / static_cast<float>(difference.size());
    pass.grad_inputs[0] =
        elementwise("scale * sign(d)", {{"scale", scale}, {"d", difference}});
  }
  bool is_loss() const override { return true; }
};
// page: end

}  // namespace
// clang-format on

namespace {

using test::between;

void add_types() {
  static const bool added = [] {
    nn::register_layer("my_swish", [] { return std::make_unique<MySwish>(); });
    nn::register_layer("my_absolute_error", [] { return std::make_unique<MyAbsoluteError>(); });
    return true;
  }();
  CHECK(added);
}

}  // namespace

TEST_CASE("networks in C++: the page's code is this code") {
  const std::string code = test::text_of("tests/docs/network_cpp_test.cc");
  const auto blocks = test::code_blocks(test::text_of("docs/network-cpp.md"), "cpp");
  const std::vector<std::string> names = {"a list of layers", "a residual block", "a layer",
                                          "a loss"};
  REQUIRE(blocks.size() == names.size());
  for (size_t i = 0; i < names.size(); ++i)
    CHECK(blocks[i] == between(code, "// page: " + names[i] + "\n", "// page: end"));
}

TEST_CASE("networks in C++: a builder and JSON give the same network") {
  nn::Network written = list();
  nn::Network read = nn::Network::parse(R"({"name": "lenet",
    "inputs": {"image": {"shape": [1, 28, 28]}}, "layers": [
    {"name": "convolution1", "type": "convolution", "output_channels": 20, "kernel_size": 5},
    {"name": "max_pooling2", "type": "max_pooling", "kernel_size": 2, "stride": 2},
    {"name": "fully_connected3", "type": "fully_connected", "output_size": 500},
    {"name": "relu4", "type": "relu"},
    {"name": "fully_connected5", "type": "fully_connected", "output_size": 10}]})",
                                        "test");
  CHECK(written.json() == read.json());
  CHECK(written.name() == "lenet");
  CHECK(written.output_shape() == Shape{10});
  const Tensor x = Tensor::full({2, 1, 28, 28}, 0.5f);
  CHECK(written.forward(x).to_vector() == read.forward(x).to_vector());
}

TEST_CASE("networks in C++: a residual network trains") {
  nn::Network network = small_resnet();
  CHECK(network.output_shape() == Shape{10});
  nn::Optimizer optimizer({.name = "momentum"});
  Tensor x({8, 3, 32, 32});
  Random random(1);
  random_uniform_into(x, random);
  const std::vector<int32_t> labels = {0, 1, 2, 3, 4, 5, 6, 7};
  const Tensor targets = Tensor::from(std::span<const int32_t>(labels), {8});
  std::vector<float> losses;
  for (int step = 0; step < 40; ++step) {
    network.zero_grad();
    losses.push_back(network.forward_loss(x, targets).loss.item());
    network.backward();
    optimizer.step(network.parameters(), network.gradients(), 0.05);
  }
  CHECK(losses.back() < losses.front() / 2);
}

TEST_CASE("networks in C++: the page's layer has the gradient of its function") {
  add_types();
  test::check_layers(R"({"name": "s", "type": "my_swish"})", {3, 5},
                     [](const test::Doubles& x, const test::Parameters&) {
                       test::Doubles y;
                       for (const double v : x) y.push_back(v / (1 + std::exp(-v)));
                       return y;
                     });
}

TEST_CASE("networks in C++: the page's loss is minimized") {
  add_types();
  nn::NetworkBuilder b;
  b.input("x", {3});
  b.add("fully_connected", {{"output_size", 2}});
  b.add("my_absolute_error");
  nn::Network network = b.build(Device::cpu());
  const Tensor x = Tensor::from({1, 2, 3, -1, 0, 2}, {2, 3}, Device::cpu());
  const Tensor targets = Tensor::from({1, -1, 2, 0.5f}, {2, 2}, Device::cpu());
  nn::Optimizer optimizer({.name = "sgd"});
  const float first = network.forward_loss(x, targets).loss.item();
  double expected = 0;
  const std::vector<float> y = network.forward(x).to_vector(), t = targets.to_vector();
  for (size_t i = 0; i < 4; ++i) expected += std::abs(static_cast<double>(y[i] - t[i])) / 4;
  CHECK(first == doctest::Approx(expected));
  for (int step = 0; step < 300; ++step) {
    network.zero_grad();
    network.forward_loss(x, targets);
    network.backward();
    optimizer.step(network.parameters(), network.gradients(), 0.01);
  }
  CHECK(network.forward_loss(x, targets).loss.item() < first / 5);
}

TEST_CASE("networks in C++: outputs have names, and errors name the place") {
  nn::NetworkBuilder b("two");
  const nn::Value x = b.input("x", {4});
  const nn::Value hidden = b.add("relu", x);
  const nn::Value y = b.add("fully_connected", hidden, {{"output_size", 3}, {"name", "y"}});
  CHECK(y.name() == "y");
  b.output("features", hidden);
  b.output("scores", y);
  nn::Network network = b.build(Device::cpu());
  CHECK(network.output_names() == std::vector<std::string>{"features", "scores"});

  nn::NetworkBuilder wrong("wrong");
  wrong.input("x", {1, 9, 9});
  wrong.add("convolution", {{"output_channels", 4}, {"kernel", Json::array({3, 3})}});
  CHECK_THROWS_WITH_AS(wrong.build(Device::cpu()), doctest::Contains("wrong: layers[0]"),
                       ParseError);
  CHECK_THROWS_AS(nn::NetworkBuilder().build(Device::cpu()), ParseError);
  CHECK_THROWS_WITH_AS(wrong.add("relu", hidden), doctest::Contains("of another builder"), Error);
  nn::NetworkBuilder twice;
  twice.input("x", {4});
  twice.input("x", {5});
  twice.add("relu");
  CHECK_THROWS_WITH_AS(twice.build(Device::cpu()), doctest::Contains("a name that is not taken"),
                       ParseError);
}
