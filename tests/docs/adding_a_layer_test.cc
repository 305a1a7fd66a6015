// SPDX-License-Identifier: MIT
// Follows docs/adding-a-layer.md. This file has the page's code, and the test compares the two
// texts.
#include "base/error.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "nn/onnx/layer_writer.h"
#include "nn/onnx/onnx.h"
#include "nn/registry.h"
#include "tests/docs/page.h"
#include "tests/support/gradcheck.h"

// clang-format off
namespace {
// page: the layer
using namespace kaiseki;

// y = scale * x^2, with one trained scale for each element.
class ScaledSquare : public nn::Layer {
 public:
  void settings(nn::Settings& settings) override {
    settings.number("start", start_, {.low = -10, .high = 10});
  }

  nn::LayerShape infer(std::span<const Shape> inputs) override {
    require(inputs.size() == 1, "scaled_square", "expected one input, got ", inputs.size());
    nn::LayerShape shape{.output = inputs[0]};
    shape.parameters.push_back({.name = "scale",
                                .shape = inputs[0],
                                .initializer = {nn::Initializer::Kind::constant, start_}});
    return shape;
  }

  Tensor forward(nn::ForwardPass& pass) const override {
    return elementwise("s * x * x", {{"s", pass.parameters[0].value}, {"x", pass.inputs[0]}});
  }

  void backward(nn::BackwardPass& pass) const override {
    const Tensor &x = pass.inputs[0], &dy = pass.grad_output;
    reduce_into(pass.gradients[0], Reduction::sum,
                elementwise("dy * x * x", {{"dy", dy}, {"x", x}}), {0}, 1);
    if (pass.needs_gradient[0])
      pass.grad_inputs[0] = elementwise(
          "2 * s * x * dy", {{"s", pass.parameters[0].value}, {"x", x}, {"dy", dy}});
  }

  nn::BackwardReads backward_reads() const override { return {.input = true}; }

  // ONNX has no such operator, so it becomes two products.
  void to_onnx(nn::OnnxLayerWriter& onnx) const override {
    const std::string x = onnx.inputs[0], squared = onnx.free_name(onnx.name + ".squared");
    onnx.add(nn::OnnxNode("Mul", squared, {x, x}, squared));
    onnx.inputs = {onnx.parameter("scale"), squared};
    onnx.add(onnx.node("Mul"));
  }

 private:
  double start_ = 1;
};
// page: end
}  // namespace
// clang-format on

using test::between;

TEST_CASE("adding a layer: the page's code is this code") {
  const std::string page = test::text_of("docs/adding-a-layer.md");
  const std::string code = test::text_of("tests/docs/adding_a_layer_test.cc");
  const std::string layer = between(page, "```cpp\n", "```");
  CHECK(layer == between(code, "// page: the layer\n", "// page: end"));
  const std::string registration =
      between(page.substr(page.find("## Register it")), "```cpp\n", "```");
  CHECK(registration == between(code, "// page: registration\n", "  // page: end"));
}

TEST_CASE("adding a layer: it trains like any other") {
  // clang-format off
  // page: registration
nn::register_layer("scaled_square", [] { return std::make_unique<ScaledSquare>(); });
  // page: end
  // clang-format on
  test::check_layers(R"({"name": "q", "type": "scaled_square", "start": 0.5}, {"type": "relu"})",
                     {3, 5}, [](const test::Doubles& x, const test::Parameters& p) {
                       test::Doubles y;
                       for (size_t i = 0; i < x.size(); ++i)
                         y.push_back(std::max(0.0, p.at("q.scale")[i % 5] * x[i] * x[i]));
                       return y;
                     });
  const std::string json =
      R"({"inputs": {"x": {"shape": [1]}}, "layers": [{"type": "scaled_square", "start": 0.5}]})";
  nn::Network network = nn::Network::parse(json, "test", Device::cpu());
  CHECK(network.forward(Tensor::from({3}, {1, 1})).item() == 4.5f);
  const ByteVector onnx = nn::encode_onnx(network);
  const std::string_view text(reinterpret_cast<const char*>(onnx.data()), onnx.size());
  const size_t first = text.find("Mul");
  CHECK(first != text.npos);
  CHECK(text.find("Mul", first + 3) != text.npos);
  CHECK(text.find("scale") != text.npos);
  CHECK_THROWS_WITH_AS(nn::register_layer("scaled_square", {}),
                       "[register_layer] expected a new type of layer, got scaled_square, which an "
                       "earlier call registered",
                       Error);
  CHECK_THROWS_WITH_AS(
      nn::register_layer("relu", {}),
      "[register_layer] expected a new type of layer, got relu, which the library has", Error);
}
