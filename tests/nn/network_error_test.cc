// SPDX-License-Identifier: MIT
// Invalid networks: each message has the file, the place, and the expected and actual value.
#include <doctest/doctest.h>

#include "base/error.h"
#include "nn/network.h"

using namespace kaiseki;
using nn::Network;

namespace {

std::string problem(const std::string& json) {
  try {
    Network::parse(json, "net.json", Device::cpu());
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}

std::string with_layers(const std::string& layers) {
  return R"({"inputs": {"x": {"shape": [3, 8, 8]}}, "layers": [)" + layers + "]}";
}

void check_problem(const std::string& json, const std::string& expected) {
  const std::string found = problem(json);
  CHECK_MESSAGE(found.find(expected) != std::string::npos, found);
  CHECK(found.find("net.json: ") == 0);
  CHECK(found.find('\n') == std::string::npos);
}

}  // namespace

TEST_CASE("network: errors for unknown keys and types suggest the nearest name") {
  check_problem(
      with_layers(R"({"type": "convolution", "output_channels": 2, "kernel_size": 3, "strid": 2})"),
      "layers[0].strid: layer convolution1: expected a key of this layer, got \"strid\", did you "
      "mean "
      "\"stride\"?");
  check_problem(with_layers(R"({"type": "max_poling", "kernel_size": 2})"),
                "layers[0].type: layer max_poling1: expected a type of layer, got \"max_poling\", "
                "did you mean "
                "\"max_pooling\"?");
  check_problem(R"({"input": {}, "layers": []})", "did you mean \"inputs\"?");
  check_problem(
      with_layers(R"({"type": "relu", "inputs": ["y"]})"),
      "layers[0].inputs[0]: expected the name of an input or of a layer above, got \"y\"");
  check_problem(R"({"layer_param": []})", "layer_param: expected a known key");
  check_problem(R"({"layer_params": [{"type": "dense"}]})",
                "expected one of conv pool fc act, got \"dense\"");
}

TEST_CASE("network: values out of range or of the wrong type throw ParseError") {
  check_problem(with_layers(R"({"type": "convolution", "output_channels": 0, "kernel_size": 3})"),
                "expected an integer from 1 to 1.67772e+07, got 0");
  check_problem(with_layers(R"({"type": "convolution", "output_channels": 2.5, "kernel_size": 3})"),
                "got 2.5");
  check_problem(with_layers(R"({"type": "convolution", "output_channels": 2})"),
                "layers[0].kernel_size: layer convolution1: expected an integer or [vertical, "
                "horizontal], got "
                "nothing");
  check_problem(
      with_layers(R"({"type": "convolution", "output_channels": 2, "kernel_size": [1, 2, 3]})"),
      "expected two integers, got a list of 3");
  check_problem(with_layers(R"({"type": "dropout", "ratio": 1})"),
                "expected a number from 0 to 0.999, got 1");
  check_problem(with_layers(R"({"type": "relu", "phase": "never"})"),
                "expected \"train\" or \"test\"");
  check_problem(
      with_layers(R"({"type": "fully_connected", "output_size": 2, "weight_initializer": "hee"})"),
      "weight_initializer.type");
  check_problem(with_layers(R"({"type": 3})"), "layers[0].type");
  check_problem(with_layers(R"("relu")"), "layers[0]: expected an object");
  check_problem(with_layers(""), "expected a list of 1 to 10000 layers");
  check_problem("3", "expected a network as JSON or ONNX");
  check_problem("", "the file is empty");
  check_problem(with_layers(R"({"type": "relu", "name": "x"})"),
                "expected a name that is not taken");
  check_problem(R"({"inputs": {"x": {"shape": [3, -8, 8]}}, "layers": [{"type": "relu"}]})",
                "inputs.x.shape: expected a list of 1 to 7 integers");
}

TEST_CASE("network: incompatible shapes throw ParseError") {
  check_problem(with_layers(R"({"type": "convolution", "output_channels": 2, "kernel_size": 9})"),
                "layers[0]: layer convolution1: [");
  check_problem(with_layers(R"({"type": "flatten"}, {"type": "max_pooling", "kernel_size": 2})"),
                "layers[1]: layer max_pooling2: [layer] expected an input of shape [channels, "
                "height, width], "
                "got [192]");
  check_problem(
      with_layers(R"({"name": "a", "type": "flatten"}, {"type": "add", "inputs": ["a", "x"]})"),
      "expected inputs of shape [192], got [3, 8, 8]");
  check_problem(with_layers(R"({"name": "l", "type": "mean_squared_error"}, {"type": "relu"})"),
                "expected no loss as input, got l");
  check_problem(
      R"({"inputs": {"x": {"shape": [3]}}, "layers": [{"name": "l", "type": "mean_squared_error"}],
          "outputs": ["l"]})",
      "outputs: expected no loss as output, got l");
  const auto with_outputs = [](const std::string& outputs) {
    return R"({"inputs": {"x": {"shape": [3]}}, "layers": [{"name": "r", "type": "relu"}], "outputs": )" +
           outputs + "}";
  };
  check_problem(with_outputs(R"(["r", "r"])"), "outputs: expected each name once, got \"r\" again");
  check_problem(with_outputs(R"({"y": "s"})"),
                "outputs.y: expected the name of an input or of a layer above, got \"s\"");
  check_problem(with_outputs(R"({"y": ["r"]})"), "outputs.y: expected a text of 1 to 128 bytes");
  check_problem(with_outputs("{}"), "outputs: expected at least one name");
  check_problem(with_layers(R"({"type": "softmax_cross_entropy"})"),
                "expected an input of shape [classes]");
  check_problem(
      with_layers(R"({"name": "p", "type": "flatten", "phase": "train"}, {"type": "relu"})"),
      "layer p: expected output shape [3, 8, 8] like the input");
}

TEST_CASE("network: sizes that Sukiyaki's format repeats are checked") {
  const std::string conv =
      R"({"type": "conv", "params": {"input_rows": 8, "input_cols": 8, "input_depth": 3,
          "output_depth": 4, "window_size": 3, "padding": 0}})";
  check_problem(
      "{\"layer_params\": [" + conv +
          R"(, {"type": "pool", "params": {"input_rows": 7, "input_cols": 6, "input_depth": 4,
                         "window_size": 2, "stride": 2}}]})",
      "layer_params[1].params.input_rows: layer pool2: expected 6 as the layer's input is [4, 6, "
      "6], "
      "got 7");
  check_problem(
      "[" + conv + R"(, {"type": "fc", "params": {"input_size": 100, "output_size": 2}}])",
      "[1].params.input_size: layer fc2: expected 144 as the layer's input is [4, 6, 6], got 100");
  check_problem(R"([{"type": "act", "params": {"activation_type": "relu"}}])",
                "[0].type: expected a first layer that gives its input's size, got act");
  check_problem(R"([{"type": "fc", "params": {"input_size": 2, "output_size": 2, "window": 3}}])",
                "[0].params.window");
  check_problem(R"({"layer_params": [{"type": "fc", "params": {"input_size": 2, "output_size": 2}}],
                    "layer_status": [{"w": "AAAA"}]})",
                "expected whole float32 values, got 3 bytes");
  check_problem(R"({"layer_params": [{"type": "fc", "params": {"input_size": 2, "output_size": 2}}],
                    "layer_status": [{"w": "AAAAAA=="}]})",
                "layer_status[0].w: layer fc1: expected 4 values for weight [2, 2], got 1");
}

TEST_CASE("network: excessive sizes throw ParseError before any allocation") {
  check_problem(
      R"({"inputs": {"x": {"shape": [16777216, 16777216, 16777216]}}, "layers": [{"type": "relu"}]})",
      "elements in a sample");
  check_problem(with_layers(R"({"type": "fully_connected", "output_size": 16777216})"),
                "expected at most 536870912 parameters in a network");
  const std::string large = R"({"type": "fully_connected", "output_size": 20000},)";
  const std::string many = large + large + large + R"({"type": "relu"})";
  check_problem(with_layers(many), "parameters in a network");
  check_problem(
      with_layers(R"({"type": "convolution", "output_channels": 16777216, "kernel_size": 8})"),
      "got");
  check_problem(
      with_layers(
          R"({"type": "convolution", "output_channels": 1, "kernel_size": 1, "padding": 16777216})"),
      "elements in a sample");
  const std::string window = R"({"inputs": {"x": {"shape": [16777216, 1, 1]}}, "layers": [
      {"type": "convolution", "output_channels": 1, "kernel_size": 16777216, "padding": 16777216,
       "stride": 16777216}]})";
  check_problem(window, "elements, got [1, 16777216, 16777216, 16777216]");
  check_problem(with_layers(R"({"type": "convolution", "output_channels": 100000, "kernel_size": 30,
                                "padding": 16777216})"),
                "elements, got [100000, 3, 30, 30, ");
}

TEST_CASE("network: wrong calls throw errors") {
  Network network = Network::parse(with_layers(R"({"type": "fully_connected", "output_size": 4})"),
                                   "net.json", Device::cpu());
  CHECK_THROWS_WITH_AS(network.forward(Tensor({2, 3, 8, 7})),
                       "[network] expected input x of shape [n, 3, 8, 8], got [2, 3, 8, 7]",
                       ShapeError);
  CHECK_THROWS_AS(network.forward(Tensor()), ShapeError);
  CHECK_THROWS_AS(network.backward(), Error);
  CHECK_THROWS_AS(network.backward(Tensor({2, 4})), Error);
  network.forward(Tensor::zeros({2, 3, 8, 8}));
  CHECK_THROWS_AS(network.backward(), Error);
  network.forward(Tensor::zeros({2, 3, 8, 8}));
  CHECK_THROWS_AS(network.backward(Tensor::zeros({2, 5})), ShapeError);
  const std::vector<int32_t> labels = {1, 2, 3};
  CHECK_THROWS_AS(network.forward_loss(Tensor::zeros({2, 3, 8, 8}),
                                       Tensor::from(std::span<const int32_t>(labels), {3})),
                  ShapeError);
}
