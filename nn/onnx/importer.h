// SPDX-License-Identifier: MIT
// Importer: converts the nodes of an ONNX graph to layers, one after the other. Each operator has
// one function, which reads an OnnxOp. operators.h lists the functions.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "nn/network_spec.h"
#include "nn/onnx/model.h"

namespace kaiseki::nn::onnx {

/// The batch size in a shape that the graph computes.
inline constexpr int64_t kBatch = INT64_MIN;

/// The value of a name in the graph: a layer's output or a constant.
struct OnnxValue {
  std::string layer = {};          // the layer or input; empty: a constant
  Shape shape = {};                // of one sample
  bool shared = false;             // more than one consumer
  std::vector<int64_t> pads = {};  // zeros around a picture: top, left, bottom, right
  std::optional<float> gain = {};  // the factor of a Mul before a Sigmoid
  int moved_axis = 0;  // of a sample: a Transpose exchanged it and the channels; `shape` is before
  std::string pending = {};  // the place of a Pad, Mul or Transpose that the reader must apply
  std::string problem = {};  // why the value is missing: the place and the error of a node
  const TensorData* tensor = nullptr;
  std::optional<std::vector<int64_t>> integers = {};  // a constant that the graph computes

  bool is_constant() const { return layer.empty(); }
};

/// A layer that is not yet added to the spec.
struct NewLayer {
  std::string type;
  Json params = Json::object();  // may contain defaults
  std::vector<InlineWeights> weights = {};
  std::string name = {};  // preferred; a number is appended if it is taken
};

class Importer {
 public:
  explicit Importer(const OnnxModel& model) : model_(model) {}
  NetworkSpec run();

 private:
  friend class OnnxOp;
  [[noreturn]] void fail(std::string_view place, const std::string& what) const;
  [[noreturn]] void fail_pending(const OnnxValue& value, const std::string& reader) const;
  void count_readers();
  void add_inputs();
  bool reads_samples(const NodeData& node) const;
  void expect_operators();
  void import(size_t index);
  void import_constant_node(size_t index);
  void add_outputs();
  std::string free_name(const std::string& wish);

  const OnnxModel& model_;
  NetworkSpec spec_;
  std::map<std::string, OnnxValue> values_;
  std::set<std::string> samples_;  // values that depend on an input's elements
  std::map<std::string, int> readers_, next_suffix_;
  std::map<std::string, size_t> layers_;  // indices into spec_.layers
  std::set<std::string> names_;
  std::optional<int64_t> batch_;  // if the graph fixes it
  int64_t parameters_ = 0;
};

/// The node that is being imported. finish() throws if an attribute was not read, or if another
/// node uses an output other than the first.
class OnnxOp {
 public:
  OnnxOp(Importer& importer, const NodeData& node, size_t index);

  const std::string& type() const { return node_.type; }
  int64_t opset() const { return *importer_.model_.opset; }
  const std::string& place() const { return place_; }
  [[noreturn]] void fail(const std::string& what) const;
  /// "attribute NAME: expected ..., got ..."
  [[noreturn]] void fail_attribute(std::string_view name, const std::string& expected,
                                   const std::string& got) const;

  int64_t integer(std::string_view name, std::optional<int64_t> otherwise);
  /// Returns the shortest decimal number that rounds to this float.
  double number(std::string_view name, double otherwise);
  std::string text(std::string_view name, const std::string& otherwise);
  std::vector<int64_t> integers(std::string_view name, const std::vector<int64_t>& otherwise);
  const TensorData* tensor(std::string_view name);
  bool has(std::string_view name) const;
  /// Throws unless the attribute is omitted or has this value.
  void only(std::string_view name, int64_t allowed);
  void finish() const;

  size_t inputs() const { return node_.inputs.size(); }
  bool has_input(size_t i) const { return i < inputs() && !node_.inputs[i].empty(); }
  const std::string& input_name(size_t i) const { return node_.inputs[i]; }
  const OnnxValue& input(size_t i) const;
  /// Returns an input that is the output of a layer, without a pending Pad, Mul or Transpose.
  /// `rank` is the rank of one sample; -1 allows any.
  const OnnxValue& data(size_t i, int rank = -1) const;
  /// Returns an input that is a constant of float32 with these dimensions. {} allows any
  /// dimensions, -1 any size.
  const TensorData& constant(size_t i, const std::vector<int64_t>& dims = {}) const;
  std::vector<int64_t> constant_integers(size_t i) const;
  /// Returns the elements, and counts them as parameters of the network.
  std::vector<float> values(const TensorData& tensor);
  const std::optional<int64_t>& batch() const { return importer_.batch_; }

  /// Sets the first output.
  void set(OnnxValue value);
  /// Removes defaults from the layer's settings, checks it, infers its shape and appends it to the
  /// network.
  OnnxValue make(NewLayer layer, const std::vector<const OnnxValue*>& inputs);
  /// Makes the layer and sets it as the first output.
  void add(NewLayer layer, const std::vector<const OnnxValue*>& inputs) {
    set(make(std::move(layer), inputs));
  }
  void add(NewLayer layer) { add(std::move(layer), {&data(0)}); }
  /// Returns the layer that computes `value`, if it has no bias and no other node uses the value.
  /// Else returns null.
  LayerSpec* without_bias(const OnnxValue& value);

 private:
  const Attribute* find(std::string_view name, Attribute::Type type);

  Importer& importer_;
  const NodeData& node_;
  std::string place_;
  std::set<std::string, std::less<>> asked_;
};

/// Returns the shortest decimal number that rounds to this float.
double shortest(float value);
/// Returns at most 120 bytes of UTF-8. Replaces control characters and invalid bytes by '?'.
std::string printable_name(std::string_view name);
/// "[1, 2]"
std::string list_text(const std::vector<int64_t>& values);
/// Returns the elements of a constant of float32. Throws ParseError with `place`.
std::vector<float> floats_of(const TensorData& tensor, std::string_view source,
                             std::string_view place);

}  // namespace kaiseki::nn::onnx
