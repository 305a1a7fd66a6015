// SPDX-License-Identifier: MIT
#include "nn/onnx/model.h"

#include "base/error.h"
#include "nn/io/protobuf.h"

namespace kaiseki::nn::onnx {
namespace {

constexpr size_t kMaxNodes = 20'000, kMaxTensors = 100'000, kMaxAttributes = 64, kMaxRank = 16;

/// Whether the dimensions are from 0 to 2^31 and their product is at most 2^40.
bool are_valid(const std::vector<int64_t>& dims) {
  constexpr int64_t kLongest = int64_t{1} << 31, kMost = int64_t{1} << 40;
  int64_t product = 1;
  for (int64_t dim : dims) {
    if (dim < 0 || dim > kLongest) return false;
    if (dim > 0 && product > kMost / dim) return false;
    product *= dim;
  }
  return true;
}

class ModelReader {
 public:
  explicit ModelReader(std::string_view source) { model_.source = source; }

  OnnxModel read(ByteView bytes) {
    model_.bytes = bytes.size();
    ProtoReader in(bytes, model_.source);
    bool graph = false;
    for (ProtoField field; in.next(field);) {
      if (field.number == 7) {
        if (graph) fail("graph", "the file has two graphs");
        graph = true;
        read_graph(in.message(field));
      } else if (field.number == 8) {
        read_opset(in.message(field));
      } else if (field.number == 14) {
        read_metadata(in.message(field));
      }
    }
    if (!graph) fail("graph", "expected a graph, got none");
    return std::move(model_);
  }

 private:
  [[noreturn]] void fail(std::string_view place, const std::string& what) const {
    throw ParseError(model_.source, place, what);
  }

  template <typename T>
  T& grown(std::vector<T>& list, size_t limit, const char* what) const {
    if (list.size() >= limit)
      fail("graph", "the file has more than " + std::to_string(limit) + " " + what);
    return list.emplace_back();
  }

  void read_opset(ProtoReader in) {
    std::string_view domain;
    std::optional<int64_t> version;
    for (ProtoField field; in.next(field);) {
      if (field.number == 1) domain = in.text(field);
      if (field.number == 2) version = in.integer(field);
    }
    if (domain.empty() || domain == "ai.onnx") model_.opset = version;
  }

  void read_metadata(ProtoReader in) {
    std::string key, value;
    for (ProtoField field; in.next(field);) {
      if (field.number == 1) key = in.text(field);
      if (field.number == 2) value = in.text(field);
    }
    model_.metadata[key] = value;
  }

  void read_graph(ProtoReader in) {
    for (ProtoField field; in.next(field);) {
      switch (field.number) {
        case 1:
          read_node(in.message(field), grown(model_.nodes, kMaxNodes, "nodes"));
          break;
        case 2:
          model_.name = in.text(field);
          break;
        case 5:
          read_tensor(in.message(field), grown(model_.initializers, kMaxTensors, "initializers"));
          break;
        case 11:
          read_value(in.message(field), grown(model_.inputs, kMaxTensors, "inputs"));
          break;
        case 12:
          read_value(in.message(field), grown(model_.outputs, kMaxNodes, "outputs"));
          break;
        case 15:
          fail("graph", "sparse initializers are not supported");
        default:
          break;
      }
    }
  }

  void read_node(ProtoReader in, NodeData& node) const {
    for (ProtoField field; in.next(field);) {
      switch (field.number) {
        case 1:
          node.inputs.emplace_back(in.text(field));
          break;
        case 2:
          node.outputs.emplace_back(in.text(field));
          break;
        case 3:
          node.name = in.text(field);
          break;
        case 4:
          node.type = in.text(field);
          break;
        case 5:
          read_attribute(in.message(field), grown(node.attributes, kMaxAttributes, "attributes"));
          break;
        case 7:
          node.domain = in.text(field);
          break;
        default:
          break;
      }
    }
  }

  void read_attribute(ProtoReader in, Attribute& attribute) const {
    for (ProtoField field; in.next(field);) {
      switch (field.number) {
        case 1:
          attribute.name = in.text(field);
          break;
        case 2:
          attribute.number = in.number(field);
          break;
        case 3:
          attribute.integer = in.integer(field);
          break;
        case 4:
          attribute.text = in.text(field);
          break;
        case 5:
          attribute.tensors.assign(1, {});
          read_tensor(in.message(field), attribute.tensors[0]);
          break;
        case 8:
          in.append(field, attribute.integers);
          break;
        case 20:
          attribute.type = in.integer(field);
          break;
        default:
          break;
      }
    }
  }

  void read_tensor(ProtoReader in, TensorData& tensor) const {
    for (ProtoField field; in.next(field);) {
      switch (field.number) {
        case 1:
          in.append(field, tensor.dims);
          break;
        case 2:
          tensor.type = in.integer(field);
          break;
        case 4:
          in.append(field, tensor.float_data);
          break;
        case 5:
        case 7:
          in.append(field, tensor.int_data);
          break;
        case 8:
          tensor.name = in.text(field);
          break;
        case 9:
          tensor.raw = in.bytes(field);
          break;
        case 13:
          tensor.external = true;
          break;
        case 14:
          tensor.external = tensor.external || in.integer(field) != 0;
          break;
        default:
          break;
      }
    }
    const std::string place = "tensor " + tensor.name.substr(0, 64);
    if (tensor.dims.size() > kMaxRank)
      fail(place, "expected at most 16 dimensions, got " + std::to_string(tensor.dims.size()));
    if (!are_valid(tensor.dims))
      fail(place, "a dimension is negative or over 2^31, or there are more than 2^40 elements");
  }

  void read_value(ProtoReader in, ValueData& value) const {
    for (ProtoField field; in.next(field);) {
      if (field.number == 1) value.name = in.text(field);
      if (field.number != 2) continue;
      ProtoReader type = in.message(field);
      for (ProtoField inner; type.next(inner);)
        if (inner.number == 1) read_tensor_type(type.message(inner), value);
    }
  }

  void read_tensor_type(ProtoReader in, ValueData& value) const {
    for (ProtoField field; in.next(field);) {
      if (field.number == 1) value.type = in.integer(field);
      if (field.number != 2) continue;
      value.has_shape = true;
      ProtoReader shape = in.message(field);
      for (ProtoField dim; shape.next(dim);)
        if (dim.number == 1)
          grown(value.dims, kMaxRank, "dimensions") = read_dim(shape.message(dim));
    }
  }

  static int64_t read_dim(ProtoReader in) {
    int64_t size = -1;
    for (ProtoField field; in.next(field);)
      if (field.number == 1) size = in.integer(field);
    return size;
  }

  OnnxModel model_;
};

}  // namespace

std::string element_type_name(int64_t type) {
  constexpr const char* kNames[] = {"no type",    "float32", "uint8",  "int8",   "uint16",
                                    "int16",      "int32",   "int64",  "string", "bool",
                                    "float16",    "float64", "uint32", "uint64", "complex64",
                                    "complex128", "bfloat16"};
  if (type >= 0 && type < static_cast<int64_t>(std::size(kNames))) return kNames[type];
  return "type " + std::to_string(type);
}

int64_t TensorData::elements() const {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

OnnxModel parse_model(ByteView bytes, std::string_view source) {
  return ModelReader(source).read(bytes);
}

}  // namespace kaiseki::nn::onnx
