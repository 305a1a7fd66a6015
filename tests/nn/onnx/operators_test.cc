// SPDX-License-Identifier: MIT
// Forms of operators that the networks of tests/reference/onnx do not have, and all errors.
#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/docs/page.h"
#include "tests/nn/onnx/graph.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

using Ints = std::vector<int64_t>;

/// Imports a file of one node. Returns the layer as JSON, or the error.
std::string layers_of(const OnnxFile& file) {
  try {
    const std::string json = file.load().json();
    return json.substr(json.find("\"layers\""));
  } catch (const Error& error) {
    return error.what();
  }
}

void check_says(const OnnxFile& file, const std::string& words) {
  const std::string text = layers_of(file);
  CAPTURE(text);
  CHECK(text.find(words) != text.npos);
  CHECK((text.starts_with("\"layers\"") || text.find('\n') == text.npos));
}

OnnxFile single(OnnxNode node, std::vector<ProtoWriter> constants = {}, int64_t opset = 13,
                Ints input = {-1, 3, 6, 7}) {
  OnnxFile file{.input = std::move(input), .opset = opset};
  file.nodes = {std::move(node)};
  file.constants = std::move(constants);
  return file;
}

std::vector<float> counted(size_t n) {
  std::vector<float> values;
  for (size_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i) - 3);
  return values;
}

OnnxNode conv() { return OnnxNode("Conv", {"x", "w"}, "y"); }
OnnxNode max_pool() { return OnnxNode("MaxPool", {"x"}, "y").with("kernel_shape", Ints{3, 3}); }
std::vector<ProtoWriter> filter() { return {onnx_tensor("w", {2, 3, 3, 3}, counted(54))}; }

}  // namespace

TEST_CASE("onnx: imports all forms of padding") {
  check_says(single(conv().with("pads", Ints{1, 2, 1, 2}), filter()), "\"padding\": [1, 2]");
  check_says(single(conv().with("auto_pad", std::string("SAME_UPPER")), filter()),
             "\"padding\": 1,");
  check_says(single(conv().with("auto_pad", std::string("VALID")), filter()),
             "\"kernel_size\": 3,");
  // Six rows with stride 2: no window reads the last row of the padding.
  check_says(single(conv().with("pads", Ints{1, 1, 0, 1}).with("strides", Ints{2, 2}), filter()),
             "\"padding\": 1");
  check_says(single(conv().with("pads", Ints{0, 0, 1, 1}), filter()), "\"end_padding\": 1");
  const auto same = [](const char* end) {
    return single(conv().with("auto_pad", std::string(end)).with("strides", Ints{2, 2}), filter());
  };
  check_says(same("SAME_LOWER"), "\"padding\": 1,");
  check_says(same("SAME_UPPER"), "\"padding\": [0, 1]");
  check_says(same("SAME_UPPER"), "\"end_padding\": 1");
  check_says(single(max_pool().with("pads", Ints{0, 0, 1, 1}).with("strides", Ints{2, 2})),
             "\"ceil_mode\": true");
  check_says(single(max_pool().with("pads", Ints{0, 0, 3, 3}).with("strides", Ints{2, 2})),
             "attribute pads: expected the same at both ends, or more");
  check_says(single(OnnxNode("AveragePool", {"x"}, "y")
                        .with("kernel_shape", Ints{3, 3})
                        .with("pads", Ints{1, 1, 1, 1})
                        .with("count_include_pad", int64_t{1})),
             "\"count_padding\": true");
  OnnxFile padded{.nodes = {OnnxNode("Pad", {"x", "p"}, "a"), OnnxNode("Conv", {"a", "w"}, "y")},
                  .constants = filter()};
  padded.constants.push_back(onnx_integers("p", {0, 0, 2, 1, 0, 0, 2, 1}));
  check_says(padded, "\"padding\": [2, 1]");
  padded.nodes[1].with("auto_pad", std::string("SAME_UPPER"));
  check_says(padded, "attribute auto_pad: expected NOTSET or VALID after a Pad, got SAME_UPPER");
  padded.nodes[1] = OnnxNode("Relu", {"a"}, "y");
  check_says(padded,
             "test.onnx: graph.node[0] (Pad): expected Conv or AveragePool as the reader of its "
             "output, got graph.node[1] (Relu)");
  padded.nodes.pop_back();
  padded.outputs = {"a"};
  padded.nodes.push_back(OnnxNode("Relu", {"x"}, "b"));
  check_says(padded, "graph.node[0] (Pad)");
  check_says(padded, "got graph.output \"a\"");
}

TEST_CASE("onnx: imports matrix products, factors and biases") {
  const Tensor x = random_tensor({2, 3}, 1);
  const std::vector<float> w = {1, 2, 3, 4, 5, 6};  // [3, 2]
  const std::vector<double> in = doubles(x);
  const auto check_y = [&](const OnnxFile& file, double alpha, double first, double second) {
    std::vector<double> wanted;
    for (size_t n = 0; n < 2; ++n)
      for (size_t o = 0; o < 2; ++o) {
        double sum = o ? second : first;
        for (size_t i = 0; i < 3; ++i) sum += alpha * in[n * 3 + i] * w[i * 2 + o];
        wanted.push_back(sum);
      }
    check_close(file.load().forward(x), wanted, 1e-6, 1e-6);  // three terms of f32
  };
  OnnxFile gemm =
      single(OnnxNode("Gemm", {"x", "w", "b"}, "y").with("alpha", 0.5f).with("beta", 2.0f),
             {onnx_tensor("w", {3, 2}, w), onnx_tensor("b", {1, 2}, {1, -1})}, 13, {-1, 3});
  check_y(gemm, 0.5, 2, -2);
  gemm.constants[1] = onnx_tensor("b", {}, {3});
  check_y(gemm, 0.5, 6, 6);
  gemm.constants[1] = onnx_tensor("b", {3}, {3, 3, 3});
  check_says(gemm, "expected a bias of 2 values, got the shape [3]");
  OnnxFile product{.input = {4, 3},
                   .nodes = {OnnxNode("MatMul", {"x", "w"}, "a"), OnnxNode("Add", {"b", "a"}, "y")},
                   .constants = {onnx_tensor("w", {3, 2}, w), onnx_tensor("b", {2}, {7, 8})}};
  check_y(product, 1, 7, 8);
  product.nodes.push_back(OnnxNode("Relu", {"a"}, "z"));
  check_says(product, "without a bias or another consumer");
  check_says(single(OnnxNode("Gemm", {"x", "w"}, "y").with("transA", int64_t{1}),
                    {onnx_tensor("w", {3, 2}, w)}, 13, {-1, 3}),
             "attribute transA: expected 0, got 1");
  check_says(single(OnnxNode("MatMul", {"x", "w"}, "y"), {onnx_tensor("w", {3, 2}, w)}),
             "expected 2 dimensions with the batch, got a sample of shape [3, 6, 7]");
  check_says(single(OnnxNode("MatMul", {"x", "w"}, "y"), {onnx_tensor("w", {4, 2}, counted(8))}, 13,
                    {-1, 3}),
             "expected a constant of shape [3, -1], got [4, 2]");
}

TEST_CASE("onnx: imports reshapes that keep the shape or flatten it") {
  const auto reshape = [](Ints to, Ints input = {-1, 3, 6, 7}) {
    return single(OnnxNode("Reshape", {"x", "s"}, "y"), {onnx_integers("s", to)}, 13, input);
  };
  for (const Ints& to : {Ints{0, -1}, {-1, 126}, {0, 126}}) check_says(reshape(to), "\"flatten\"");
  check_says(reshape({5, -1}, {5, 3, 6, 7}), "\"flatten\"");
  check_says(reshape({5, -1}), "with the batch as the first dimension, got [5, -1]");
  check_says(reshape({-1, 63}), "of 126 elements in a sample");
  check_says(reshape({0, 3, 42}), "expected a sample that stays or becomes one dimension");
  check_says(reshape({0, -1, -1}), "with one open dimension at most");
  check_says(reshape({}), "with the batch as the first dimension, got []");
  OnnxFile same{.nodes = {OnnxNode("Reshape", {"x", "s"}, "a"), OnnxNode("Relu", {"a"}, "y")},
                .constants = {onnx_integers("s", {0, 3, 6, -1})}};
  check_says(same, "\"inputs\": [\"x\"]");
  check_says(single(OnnxNode("Flatten", {"x"}, "y").with("axis", int64_t{2})),
             "attribute axis: expected 1, all of a sample, got 2");
  check_says(single(OnnxNode("Flatten", {"x"}, "y").with("axis", int64_t{-3})), "\"flatten\"");
  check_says(
      single(OnnxNode("Squeeze", {"x"}, "y").with("axes", Ints{2, 3}), {}, 11, {-1, 4, 1, 1}),
      "\"flatten\"");
  check_says(single(OnnxNode("Squeeze", {"x"}, "y").with("axes", Ints{2}), {}, 11),
             "attribute axes: expected dimensions of 1 element");
  check_says(single(OnnxNode("Reshape", {"x", "s"}, "y").with("allowzero", int64_t{1}),
                    {onnx_integers("s", {0, -1})}, 15),
             "attribute allowzero: expected 0, got 1");
}

TEST_CASE("onnx: both definitions of Softmax normalize over the classes") {
  const auto softmax = [](int64_t axis, int64_t opset, Ints input) {
    return single(OnnxNode("Softmax", {"x"}, "y").with("axis", axis), {}, opset, std::move(input));
  };
  for (int64_t opset : {7, 11, 13}) {
    check_says(softmax(1, opset, {-1, 5}), "\"softmax\"");
    check_says(softmax(-1, opset, {-1, 5}), "\"softmax\"");
    check_says(softmax(2, opset, {-1, 3, 2, 2}), "attribute axis: expected 1");
  }
  check_says(softmax(1, 13, {-1, 3, 2, 2}), "\"softmax\"");
  check_says(softmax(1, 12, {-1, 3, 1, 1}), "\"softmax\"");
  check_says(softmax(1, 12, {-1, 3, 2, 2}), "expected an input of shape [batch, classes]");
  check_says(single(OnnxNode("Softmax", {"x"}, "y"), {}, 13), "attribute axis: expected 1");
}

TEST_CASE("onnx: imports the attributes of other operators") {
  check_says(single(OnnxNode("Clip", {"x"}, "y").with("min", 0.0f), {}, 10), "\"relu\"");
  check_says(single(OnnxNode("Clip", {"x", "l", "h"}, "y"),
                    {onnx_tensor("l", {}, {0}), onnx_tensor("h", {}, {6})}),
             "expected bounds that make it Relu (0 and none), got 0.000000 and 6.000000");
  check_says(single(OnnxNode("Dropout", {"x"}, "y").with("ratio", 0.25f), {}, 10),
             "\"ratio\": 0.25");
  check_says(single(OnnxNode("Dropout", {"x", "r"}, "y"), {onnx_tensor("r", {}, {0.25f})}),
             "\"ratio\": 0.25");
  ProtoWriter training;
  training.integer(2, 9).text(8, "t").integer(5, 1);
  check_says(single(OnnxNode("Dropout", {"x", "", "t"}, "y"), {training}), "training_mode");
  check_says(single(OnnxNode("LRN", {"x"}, "y").with("size", int64_t{4})),
             "attribute size: expected an odd number, got 4");
  check_says(single(OnnxNode("LeakyRelu", {"x"}, "y")), "\"leaky_relu\"");
  check_says(single(OnnxNode("ReduceMean", {"x"}, "y").with("axes", Ints{-1, -2})),
             "\"global_pooling\"");
  check_says(single(OnnxNode("ReduceMean", {"x"}, "y").with("axes", Ints{1})), "attribute axes");
  check_says(single(OnnxNode("Concat", {"x", "x"}, "y").with("axis", int64_t{-2})), "\"axis\": 1");
  check_says(single(OnnxNode("Concat", {"x", "x"}, "y").with("axis", int64_t{0})),
             "attribute axis: expected one of a sample's 3 dimensions, got 0");
  check_says(single(OnnxNode("Sum", {"x", "x", "x"}, "y")), "\"add\"");
  check_says(single(max_pool().with("dilations", Ints{2, 2})), "attribute dilations");
  check_says(single(OnnxNode("MaxPool", {"x"}, "y")), "attribute kernel_shape");
  check_says(single(OnnxNode("MaxPool", {"x"}, "y").with("kernel_shape", Ints{3})),
             "expected two integers of 1 or more, for pictures, got [3]");
  check_says(single(OnnxNode("MaxPool", {"x"}, "y").with("kernel_shape", 1.0f)),
             "attribute kernel_shape: expected a value of type 7, got type 1");
}

TEST_CASE("onnx: unsupported graphs throw ParseError with one line") {
  check_says(single(OnnxNode("PRelu", {"x"}, "y")),
             "test.onnx: graph.node[0] (PRelu): the operator is not supported");
  check_says(single(OnnxNode("Relu", {"x"}, "y").with("slope", 1.0f)),
             "attribute slope: expected a supported attribute");
  check_says(single(OnnxNode("Relu", {"nothing"}, "y")), "got \"nothing\"");
  check_says(single(OnnxNode("Relu", {}, "y")), "input 0: expected a tensor, got none");
  check_says(single(OnnxNode("Relu", {"x"}, "x")), "a name of its own");
  check_says(single(OnnxNode("Relu", {"x"}, "z")), "graph.output \"y\"");
  check_says(single(OnnxNode("Identity", {"x"}, "y")), "expected nodes that become layers");
  check_says(single(OnnxNode("Relu", {"w"}, "y"), filter()), "got a constant");
  check_says(single(OnnxNode("Relu", {"x"}, "y"), {}, 6),
             "expected an operator set from 7 to 17, got 6");
  check_says(single(OnnxNode("Relu", {"x"}, "y"), {}, 18), "got 18");
  check_says(single(OnnxNode("Relu", {"x"}, "y"), {}, 13, {-1, 3, -1, -1}), "got [-1, 3, -1, -1]");
  OnnxFile wrong = single(OnnxNode("Relu", {"x"}, "y"));
  wrong.input_type = 11;
  check_says(wrong, "graph.input[0] \"x\": expected float32, got float64");
  OnnxNode foreign("Relu", {"x"}, "y");
  foreign.message.text(7, "com.example");
  check_says(single(foreign), "the domain \"com.example\"");
  ProtoWriter half, external = onnx_tensor("w", {2, 3, 3, 3}, {}),
                    few = onnx_tensor("w", {2, 3, 3, 3}, {1});
  half.integer(1, 2).integer(1, 3).integer(1, 3).integer(1, 3).integer(2, 10).text(8, "w");
  external.integer(14, 1);
  check_says(single(conv(), {half}), "constant \"w\": expected float32, got float16");
  check_says(single(conv(), {external}), "expected its values in this file, got external data");
  check_says(single(conv(), {few}),
             "expected 54 values of float32 for the shape [2, 3, 3, 3], got 1");
  check_says(single(conv().with("group", int64_t{2}), filter()), "in 2 groups");
  check_says(single(conv().with("group", int64_t{0}), filter()), "in 0 groups");
  OnnxNode mask("Dropout", {"x"}, "a");
  mask.message.text(2, "mask");
  OnnxFile reads{.nodes = {mask, OnnxNode("Relu", {"mask"}, "y")}};
  check_says(reads, "expected only the first output to be read");
}

TEST_CASE("onnx: an error names the node that computes on samples") {
  OnnxFile file{
      .nodes = {OnnxNode("Shape", {"x"}, "shape"), OnnxNode("Slice", {"shape", "w", "w"}, "part"),
                OnnxNode("ConstantOfShape", {"part"}, "state"), OnnxNode("Einsum", {"x"}, "turned"),
                OnnxNode("LSTM", {"turned", "w", "w", "", "", "state"}, "a"),
                OnnxNode("LSTM", {"a", "w", "w", "", "", "state"}, "y")},
      .constants = filter()};
  check_says(file,
             "graph.node[3] (Einsum): the operator is not supported (the page ONNX has a list); "
             "also unsupported: LSTM");
  file.nodes = {OnnxNode("Shape", {"x"}, "shape"), OnnxNode("Slice", {"shape", "w", "w"}, "part"),
                OnnxNode("Concat", {"part", "part"}, "to").with("axis", int64_t{0}),
                OnnxNode("Reshape", {"x", "to"}, "y")};
  check_says(file,
             "test.onnx: graph.node[3] (Reshape): input 1: expected a value, got graph.node[1] "
             "(Slice): the operator is not supported");
  file.nodes = {OnnxNode("Shape", {"x"}, "shape").with("start", int64_t{1}),
                OnnxNode("Cast", {"shape"}, "unread"), OnnxNode("Relu", {"x"}, "y")};
  check_says(file, "\"relu\"");  // nothing needs the nodes
  file.nodes = {OnnxNode("Mul", {"x", "half"}, "a"), OnnxNode("Relu", {"a"}, "y")};
  file.constants = {onnx_tensor("half", {}, {0.5f})};
  check_says(file,
             "test.onnx: graph.node[0] (Mul): expected Sigmoid as the reader of its output, got "
             "graph.node[1] (Relu)");
  file.nodes = {OnnxNode("Identity", {"half"}, "x"), OnnxNode("Relu", {"x"}, "y")};
  check_says(file, "graph.node[0] (Identity): expected an output with a name of its own");
}

TEST_CASE("onnx: Transpose exchanges axes around a BatchNormalization only") {
  const auto turn = [](const std::string& from, const std::string& to, const Ints& perm) {
    return OnnxNode("Transpose", {from}, to).with("perm", perm);
  };
  check_says(single(turn("x", "y", {0, 2, 1, 3})),
             "test.onnx: graph.node[0] (Transpose): expected BatchNormalization or the same "
             "Transpose as the reader of its output, got graph.output");
  for (const Ints& perm : {Ints{0, 3, 1, 2}, Ints{1, 0, 2, 3}, Ints{0, 1, 3, 2}, Ints{0, 2, 1},
                           Ints{0, 9, 2, 3}, Ints{0, -1, 2, 3}, Ints{}})
    check_says(single(turn("x", "y", perm)), "attribute perm: expected an exchange");
  check_says(single(OnnxNode("Transpose", {"x"}, "y")), "got [3, 2, 1, 0]");
  check_says(single(turn("x", "y", {0, 1, 2, 3})), "expected nodes that become layers");
  OnnxFile file{.nodes = {turn("x", "a", {0, 2, 1, 3}), OnnxNode("Relu", {"a"}, "y")}};
  check_says(file, "got graph.node[1] (Relu)");
  file.nodes = {turn("x", "a", {0, 2, 1, 3}), turn("a", "b", {0, 3, 2, 1}),
                OnnxNode("Relu", {"b"}, "y")};
  check_says(file, "graph.node[1] (Transpose): attribute perm");
  file.nodes = {turn("x", "a", {0, 2, 1, 3}), turn("a", "b", {0, 2, 1, 3}),
                OnnxNode("Relu", {"b"}, "y")};
  check_says(file, R"("layers": [{"name": "y", "type": "relu", "inputs": ["x"]}])");
}

TEST_CASE("onnx: docs/onnx.md lists exactly the supported operators") {
  std::vector<std::string> named;
  for (const auto& row : table_after(text_of("docs/onnx.md"), "## What is read"))
    for (const std::string& word : ticked(row[0])) named.push_back(word);
  for (const std::string& type : named) {
    CAPTURE(type);
    const std::string text = layers_of(single(OnnxNode(type, {"x"}, "y")));
    CHECK(text.find("the operator is not supported") == text.npos);
  }
  CHECK(named.size() == 32);
}
