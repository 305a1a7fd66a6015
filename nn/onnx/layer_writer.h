// SPDX-License-Identifier: MIT
// OnnxLayerWriter: receives the operators that Layer::to_onnx() writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "matrix/tensor.h"
#include "nn/io/protobuf.h"

namespace kaiseki::nn {

/// One operator. Its attributes are in the order of the calls.
class OnnxNode {
 public:
  OnnxNode(std::string_view type, std::string_view name, const std::vector<std::string>& inputs,
           std::string_view output);
  OnnxNode& integer(std::string_view name, int64_t value);
  OnnxNode& number(std::string_view name, double value);
  OnnxNode& integers(std::string_view name, const std::vector<int64_t>& values);
  ProtoWriter take() { return std::move(node_); }

 private:
  OnnxNode& attribute(ProtoWriter value);
  ProtoWriter node_;
};

struct OnnxGraph;

class OnnxLayerWriter {
 public:
  OnnxLayerWriter(OnnxGraph& graph, std::string name, std::string type)
      : name(std::move(name)), type(std::move(type)), graph_(graph) {}

  const std::string name, type;  // of the layer
  std::vector<std::string> inputs;
  std::string output;
  Shape input_shape, output_shape;  // of one sample; input_shape of the first input

  /// Adds an initializer with this parameter or state ("weight"), and returns its name.
  std::string parameter(const std::string& which);
  /// Adds an initializer that holds one number, and returns its name, such as "layer.beta".
  std::string scalar(const std::string& which, double value);
  /// Returns a name that no value of the graph has: `wish`, with a number if necessary.
  std::string free_name(const std::string& wish);

  /// Returns an operator with the layer's inputs, output and name. add() adds it to the graph.
  OnnxNode node(std::string_view operator_type) const {
    return {operator_type, name, inputs, output};
  }
  void add(OnnxNode&& node) { add(node); }
  void add(OnnxNode& node);
  /// Throws Error with the layer's name.
  [[noreturn]] void refuse(std::string_view expected) const;

 private:
  std::string initializer(const std::string& wish, const Tensor& value);
  OnnxGraph& graph_;
};

}  // namespace kaiseki::nn
