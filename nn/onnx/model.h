// SPDX-License-Identifier: MIT
// An ONNX file as it stands there (https://onnx.ai, onnx.proto): nodes, attributes, tensors. What
// they mean is not looked at.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/io/bytes.h"
#include "nn/io/named_tensor.h"

namespace kaiseki::nn::onnx {

/// TensorProto.DataType, as far as it is told apart here.
enum class ElementType : int32_t { undefined = 0, float32 = 1, int32 = 6, int64 = 7, float64 = 11 };
/// "float16" for 10; "type 99".
std::string element_type_name(int64_t type);

/// The bytes belong to the file.
struct TensorData {
  std::string name;
  int64_t type = 0;
  std::vector<int64_t> dims;
  ByteView raw;
  std::vector<float> float_data;
  std::vector<int64_t> int_data;
  bool external = false;

  /// Product of the dimensions, each of which is at most 2^31; -1 when that is over 2^40.
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
  int64_t type = 0;  // Type, or another
  float number = 0;
  int64_t integer = 0;
  std::string text;
  std::vector<int64_t> integers;
  std::vector<TensorData> tensors;  // one, of Type::tensor
};

struct NodeData {
  std::string name, type, domain;
  std::vector<std::string> inputs, outputs;  // "": left out
  std::vector<Attribute> attributes;
};

/// An input or output of the graph.
struct ValueData {
  std::string name;
  int64_t type = 0;
  bool has_shape = false;
  std::vector<int64_t> dims;  // -1: any size
};

struct Model {
  std::string source, name;
  uint64_t bytes = 0;  // of the file
  int64_t opset = 0;   // of the default domain; 0: none
  std::vector<NodeData> nodes;
  std::vector<TensorData> initializers;
  std::vector<ValueData> inputs, outputs;
  Metadata metadata;
};

/// `bytes` must outlive the model. Throws ParseError for what is no ONNX file, is damaged, or is
/// over 20,000 nodes.
Model parse_model(ByteView bytes, std::string_view source);

}  // namespace kaiseki::nn::onnx
