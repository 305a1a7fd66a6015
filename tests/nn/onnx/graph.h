// SPDX-License-Identifier: MIT
// Builds small ONNX files field by field, with forms that exporters do not write.
#pragma once

#include <string>
#include <vector>

#include "nn/io/protobuf.h"
#include "nn/network.h"

namespace kaiseki::test {

using nn::ProtoWriter;

inline ProtoWriter onnx_tensor(const std::string& name, std::vector<int64_t> dims,
                               const std::vector<float>& values) {
  ProtoWriter tensor;
  for (int64_t dim : dims) tensor.integer(1, dim);
  tensor.integer(2, 1).text(8, name);
  for (float value : values) tensor.number(4, value);
  return tensor;
}

inline ProtoWriter onnx_integers(const std::string& name, const std::vector<int64_t>& values) {
  ProtoWriter tensor;
  tensor.integer(1, static_cast<int64_t>(values.size())).integer(2, 7).text(8, name);
  for (int64_t value : values) tensor.integer(7, value);
  return tensor;
}

inline ProtoWriter onnx_value(const std::string& name, const std::vector<int64_t>& dims,
                              int64_t type = 1) {
  ProtoWriter shape, tensor, of, value;
  for (int64_t dim : dims)
    shape.message(1, dim < 0 ? ProtoWriter().text(2, "N") : ProtoWriter().integer(1, dim));
  tensor.integer(1, type).message(2, std::move(shape));
  of.message(1, std::move(tensor));
  value.text(1, name).message(2, std::move(of));
  return value;
}

struct OnnxNode {
  ProtoWriter message;
  OnnxNode(const std::string& type, const std::vector<std::string>& inputs,
           const std::string& output) {
    for (const std::string& input : inputs) message.text(1, input);
    message.text(2, output).text(4, type);
  }
  OnnxNode& with(const std::string& name, int64_t value) {
    return attribute(ProtoWriter().text(1, name).integer(3, value).integer(20, 2));
  }
  OnnxNode& with(const std::string& name, float value) {
    return attribute(ProtoWriter().text(1, name).number(2, value).integer(20, 1));
  }
  OnnxNode& with(const std::string& name, const std::string& value) {
    return attribute(ProtoWriter().text(1, name).text(4, value).integer(20, 3));
  }
  OnnxNode& with(const std::string& name, const std::vector<int64_t>& values) {
    ProtoWriter writer;
    writer.text(1, name);
    for (int64_t value : values) writer.integer(8, value);
    return attribute(std::move(writer.integer(20, 7)));
  }
  OnnxNode& attribute(ProtoWriter value) {
    message.message(5, std::move(value));
    return *this;
  }
};

/// A graph from "x" to "y".
struct OnnxFile {
  std::vector<int64_t> input = {-1, 3, 6, 7};
  std::vector<OnnxNode> nodes = {};
  std::vector<ProtoWriter> constants = {};
  int64_t opset = 13, input_type = 1;
  std::vector<std::string> outputs = {"y"};

  std::string bytes() const {
    ProtoWriter graph, model;
    for (const OnnxNode& node : nodes) graph.message(1, node.message);
    graph.text(2, "test");
    for (const ProtoWriter& tensor : constants) graph.message(5, tensor);
    graph.message(11, onnx_value("x", input, input_type));
    for (const std::string& output : outputs) graph.message(12, onnx_value(output, {}));
    model.integer(1, 7).message(7, std::move(graph));
    model.message(8, ProtoWriter().integer(2, opset));
    const ByteVector bytes = model.encode();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  nn::Network load() const { return nn::Network::parse(bytes(), "test.onnx", Device::cpu()); }
};

}  // namespace kaiseki::test
