// SPDX-License-Identifier: MIT
// Importer: turns the nodes of an ONNX graph into layers, one after the other. An operator is one
// function on an Op; operators.h lists them.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "nn/network_spec.h"
#include "nn/onnx/model.h"

namespace kaiseki::nn::onnx {

/// Stands for the batch in a shape that the graph computes.
inline constexpr int64_t kBatch = INT64_MIN;

/// What a name in the graph stands for: a layer's output, or a constant.
struct Value {
  std::string layer = {};          // or an input's name; empty: a constant
  Shape shape = {};                // of one sample
  bool shared = false;             // more than one reader
  std::vector<int64_t> pads = {};  // zeros around a picture: top, left, bottom, right
  std::optional<float> gain = {};  // a factor
  const TensorData* tensor = nullptr;
  std::optional<std::vector<int64_t>> integers = {};  // a constant that the graph computes

  bool is_constant() const { return layer.empty(); }
};

/// What is to become a layer.
struct NewLayer {
  std::string type;
  Json params = Json::object();
  std::vector<InlineWeights> weights = {};
  std::string name = {};  // a wish
};

class Importer {
 public:
  explicit Importer(const Model& model) : model_(model) {}
  NetworkSpec run();

 private:
  friend class Op;
  [[noreturn]] void fail(std::string_view place, const std::string& what) const;
  void count_readers();
  void add_inputs();
  void add_outputs();
  std::string free_name(const std::string& wish);

  const Model& model_;
  NetworkSpec spec_;
  std::map<std::string, Value> values_;
  std::map<std::string, int> readers_, next_suffix_;
  std::map<std::string, size_t> layers_;  // places in spec_
  std::set<std::string> names_;
  std::optional<int64_t> batch_;  // where the graph fixes it
  int64_t parameters_ = 0;
};

/// A node while it is read. What is asked for is what is allowed: finish() refuses every other
/// attribute, and outputs that are read beyond the first.
class Op {
 public:
  Op(Importer& importer, const NodeData& node, size_t index);

  const std::string& type() const { return node_.type; }
  int64_t opset() const { return importer_.model_.opset; }
  const std::string& place() const { return place_; }
  [[noreturn]] void fail(const std::string& what) const;
  /// "attribute NAME: expected ..., got ..."
  [[noreturn]] void fail_attribute(std::string_view name, const std::string& expected,
                                   const std::string& got) const;

  int64_t integer(std::string_view name, std::optional<int64_t> otherwise);
  /// The shortest decimal number that is this float.
  double number(std::string_view name, double otherwise);
  std::string text(std::string_view name, const std::string& otherwise);
  std::vector<int64_t> integers(std::string_view name, std::vector<int64_t> otherwise);
  const TensorData* tensor(std::string_view name);
  bool has(std::string_view name) const;
  /// Throws unless the attribute is left out or has this value.
  void only(std::string_view name, int64_t allowed);
  void finish() const;

  size_t inputs() const { return node_.inputs.size(); }
  bool has_input(size_t i) const { return i < inputs() && !node_.inputs[i].empty(); }
  const std::string& input_name(size_t i) const { return node_.inputs[i]; }
  const Value& input(size_t i) const;
  /// The output of a layer with nothing pending. `rank`: of one sample, -1: any.
  const Value& data(size_t i, int rank = -1) const;
  /// A constant of float32 with these dimensions (empty: any); -1 among them: any.
  const TensorData& constant(size_t i, const std::vector<int64_t>& dims = {}) const;
  std::vector<int64_t> constant_integers(size_t i) const;
  /// The elements, counted as parameters of the network.
  std::vector<float> values(const TensorData& tensor);
  const std::optional<int64_t>& batch() const { return importer_.batch_; }

  /// The first output.
  void set(Value value);
  /// Checks the layer, infers its shape and appends it.
  Value make(NewLayer layer, const std::vector<const Value*>& inputs);
  /// The same, as the first output.
  void add(NewLayer layer, const std::vector<const Value*>& inputs) {
    set(make(std::move(layer), inputs));
  }
  void add(NewLayer layer) { add(std::move(layer), {&data(0)}); }
  /// The layer that alone gives this value to this node alone, if it is without a bias; else null.
  LayerSpec* without_bias(const Value& value);

 private:
  const Attribute* find(std::string_view name, Attribute::Type type);

  Importer& importer_;
  const NodeData& node_;
  std::string place_;
  std::set<std::string, std::less<>> asked_;
};

/// The shortest decimal number that is this float.
double shortest(float value);
/// At most 120 bytes of whole characters in UTF-8; what is none, or a control character, is '?'.
std::string printable_name(std::string_view name);
/// "[1, 2]"
std::string list_text(const std::vector<int64_t>& values);
/// The elements of a constant of float32. Throws ParseError at `place`.
std::vector<float> floats_of(const TensorData& tensor, std::string_view source,
                             std::string_view place);

}  // namespace kaiseki::nn::onnx
