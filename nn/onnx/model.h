// SPDX-License-Identifier: MIT
// The content of an ONNX file (https://onnx.ai, onnx.proto): nodes, attributes and tensors.
// Importer interprets them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::nn::onnx {

/// TensorProto.DataType: the types that the importer distinguishes.
enum class ElementType : int32_t { undefined = 0, float32 = 1, int32 = 6, int64 = 7, float64 = 11 };
/// "float16" for 10; "type 99".
std::string element_type_name(int64_t type);

/// A tensor. Its bytes point into the file.
struct TensorData {
  std::string name;
  int64_t type = 0;
  std::vector<int64_t> dims;  // of 0 to 2^31, with a product of at most 2^40
  ByteView raw;
  std::vector<float> float_data;
  std::vector<int64_t> int_data;
  bool external = false;

  /// The product of the dimensions.
  int64_t elements() const;
};

struct Attribute {
  enum class Type : uint8_t {
    none = 0,
    number = 1,
    integer = 2,
    text = 3,
    tensor = 4,
    floats = 6,
    integers = 7
  };
  std::string name;
  int64_t type = 0;  // Type, or an unknown type
  float number = 0;
  int64_t integer = 0;
  std::string text;
  std::vector<int64_t> integers;
  std::vector<TensorData> tensors;  // one, if the type is Type::tensor
};

struct NodeData {
  std::string name, type, domain;
  std::vector<std::string> inputs, outputs;  // "": omitted
  std::vector<Attribute> attributes;
};

/// An input or output of the graph.
struct ValueData {
  std::string name;
  int64_t type = 0;
  bool has_shape = false;
  std::vector<int64_t> dims;  // -1: any size
};

struct OnnxModel {
  std::string source, name;
  uint64_t bytes = 0;            // of the file
  std::optional<int64_t> opset;  // of the default domain
  std::vector<NodeData> nodes;
  std::vector<TensorData> initializers;
  std::vector<ValueData> inputs, outputs;
  Metadata metadata;
};

/// `bytes` must outlive the model. Throws ParseError if the file is not ONNX, is damaged, or has
/// more than 20,000 nodes.
OnnxModel parse_model(ByteView bytes, std::string_view source);

}  // namespace kaiseki::nn::onnx
