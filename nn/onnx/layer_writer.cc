// SPDX-License-Identifier: MIT
#include "nn/onnx/layer_writer.h"

#include "base/error.h"
#include "nn/io/tensor_bytes.h"
#include "nn/onnx/graph.h"

namespace kaiseki::nn {
namespace {

constexpr int64_t kFloatAttribute = 1, kIntegerAttribute = 2, kIntegersAttribute = 7;
constexpr int64_t kFloatTensor = 1;

}  // namespace

OnnxNode::OnnxNode(std::string_view type, std::string_view name,
                   const std::vector<std::string>& inputs, std::string_view output) {
  for (const std::string& input : inputs) node_.text(1, input);
  node_.text(2, output).text(3, name).text(4, type);
}

OnnxNode& OnnxNode::integer(std::string_view name, int64_t value) {
  return attribute(ProtoWriter().text(1, name).integer(3, value).integer(20, kIntegerAttribute));
}

OnnxNode& OnnxNode::number(std::string_view name, double value) {
  return attribute(ProtoWriter()
                       .text(1, name)
                       .number(2, static_cast<float>(value))
                       .integer(20, kFloatAttribute));
}

OnnxNode& OnnxNode::integers(std::string_view name, const std::vector<int64_t>& values) {
  ProtoWriter writer;
  writer.text(1, name);
  for (int64_t value : values) writer.integer(8, value);
  return attribute(std::move(writer.integer(20, kIntegersAttribute)));
}

OnnxNode& OnnxNode::attribute(ProtoWriter value) {
  node_.message(5, std::move(value));
  return *this;
}

std::string OnnxGraph::free_name(const std::string& wish) {
  std::string name = wish;
  for (int i = 2; !taken.insert(name).second; ++i) name = wish + "_" + std::to_string(i);
  return name;
}

std::string OnnxLayerWriter::free_name(const std::string& wish) { return graph_.free_name(wish); }

void OnnxLayerWriter::add(OnnxNode& node) { graph_.nodes.push_back(node.take()); }

std::string OnnxLayerWriter::parameter(const std::string& which) {
  const std::string wish = name + "." + which;
  return initializer(wish, graph_.tensors.at(wish));
}

std::string OnnxLayerWriter::scalar(const std::string& which, double value) {
  const Tensor& kept =
      graph_.scalars.emplace_back(Tensor::from({static_cast<float>(value)}, {}, Device::cpu()));
  return initializer(name + "." + which, kept);
}

std::string OnnxLayerWriter::initializer(const std::string& wish, const Tensor& value) {
  const std::string free = free_name(wish);
  ProtoWriter tensor;
  for (int64_t dim : value.shape()) tensor.integer(1, dim);
  tensor.integer(2, kFloatTensor).text(8, free).bytes(9, bytes_of(value));
  graph_.initializers.push_back(std::move(tensor));
  return free;
}

void OnnxLayerWriter::refuse(std::string_view expected) const {
  throw Error(message("onnx", "expected ", expected, ", got layer ", name, " of type ", type));
}

}  // namespace kaiseki::nn
