// SPDX-License-Identifier: MIT
// https://github.com/onnx/onnx/blob/main/docs/Operators-ml.md
#include "ml/model/onnx.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "nn/io/protobuf.h"

namespace kaiseki::ml {
namespace {

using nn::ProtoWriter;

constexpr int64_t kIrVersion = 7, kOpset = 13, kMlOpset = 1;
constexpr int64_t kFloat = 1, kInt64 = 7, kString = 8;  // TensorProto.DataType
constexpr const char* kDomain = "ai.onnx.ml";

/// An operator of ai.onnx.ml.
class Node {
 public:
  Node(std::string_view type, std::string_view input, const std::vector<std::string>& outputs) {
    node_.text(1, input);
    for (const std::string& output : outputs) node_.text(2, output);
    node_.text(4, type).text(7, kDomain);
  }
  Node& integer(std::string_view name, int64_t value) {
    return add(ProtoWriter().text(1, name).integer(3, value).integer(20, 2));
  }
  Node& text(std::string_view name, std::string_view value) {
    return add(ProtoWriter().text(1, name).text(4, value).integer(20, 3));
  }
  template <class Number>
  Node& numbers(std::string_view name, const std::vector<Number>& values) {
    ProtoWriter writer;
    writer.text(1, name);
    for (const Number value : values) writer.number(7, static_cast<float>(value));
    return add(std::move(writer.integer(20, 6)));
  }
  Node& integers(std::string_view name, const std::vector<int64_t>& values) {
    ProtoWriter writer;
    writer.text(1, name);
    for (const int64_t value : values) writer.integer(8, value);
    return add(std::move(writer.integer(20, 7)));
  }
  Node& texts(std::string_view name, const std::vector<std::string>& values) {
    ProtoWriter writer;
    writer.text(1, name);
    for (const std::string& value : values) writer.text(9, value);
    return add(std::move(writer.integer(20, 8)));
  }
  ProtoWriter take() { return std::move(node_); }

 private:
  Node& add(ProtoWriter attribute) {
    node_.message(5, std::move(attribute));
    return *this;
  }
  ProtoWriter node_;
};

/// columns: 0 for a vector.
ProtoWriter value_info(std::string_view name, int64_t type, int64_t columns) {
  ProtoWriter shape;
  shape.message(1, ProtoWriter().text(2, "N"));
  if (columns) shape.message(1, ProtoWriter().integer(1, columns));
  ProtoWriter tensor, value, outer;
  tensor.integer(1, type).message(2, std::move(shape));
  outer.message(1, std::move(tensor));
  value.text(1, name).message(2, std::move(outer));
  return value;
}

struct Labels {
  std::vector<int64_t> integers;
  std::vector<std::string> texts;  // if not empty, in place of the integers
};

Labels labels_of(const std::vector<int32_t>& classes, const std::vector<std::string>& names) {
  Labels labels{{classes.begin(), classes.end()}, {}};
  if (names.empty()) return labels;
  for (const int32_t label : classes) labels.texts.push_back(names.at(static_cast<size_t>(label)));
  return labels;
}

Node& add_labels(Node& node, const Labels& labels, const char* integers) {
  return labels.texts.empty() ? node.integers(integers, labels.integers)
                              : node.texts("classlabels_strings", labels.texts);
}

ProtoWriter linear_classifier(const LinearParts& parts, const std::string& input,
                              const Labels& labels) {
  std::vector<float> weights = parts.coefficients.to_vector<float>();
  std::vector<float> bias = parts.intercept.to_vector<float>();
  if (parts.classes.size() == 2) {
    // The softmax of -s / 2 and s / 2 is the sigmoid of s.
    const float factor = parts.softmax ? 0.5f : 1;
    std::vector<float> both;
    for (const float sign : {-factor, factor})
      for (const float weight : weights) both.push_back(sign * weight);
    weights = both;
    bias = {-factor * bias[0], factor * bias[0]};
  }
  Node node("LinearClassifier", input, {"label", "scores"});
  node.numbers("coefficients", weights).numbers("intercepts", bias);
  node.integer("multi_class", 1).text("post_transform", parts.softmax ? "SOFTMAX" : "NONE");
  return add_labels(node, labels, "classlabels_ints").take();
}

ProtoWriter linear_regressor(const LinearParts& parts, const std::string& input) {
  Node node("LinearRegressor", input, {"y"});
  node.numbers("coefficients", parts.coefficients.to_vector<float>());
  node.numbers("intercepts", parts.intercept.to_vector<float>());
  return node.integer("targets", parts.intercept.size()).take();
}

ProtoWriter forest(const ForestParts& parts, const std::string& input,
                   const std::optional<Labels>& labels) {
  std::vector<int64_t> trees, ids, features, yes, no, leaf_trees, leaf_ids, outputs;
  std::vector<float> thresholds, values;
  std::vector<std::string> modes;
  const auto share = 1 / static_cast<float>(parts.trees.size());
  for (size_t t = 0; t < parts.trees.size(); ++t) {
    const Tree& tree = parts.trees[t];
    for (int64_t i = 0; i < static_cast<int64_t>(tree.nodes.size()); ++i) {
      const TreeNode& node = tree.nodes[static_cast<size_t>(i)];
      const bool leaf = tree.is_leaf(i);
      trees.push_back(static_cast<int64_t>(t));
      ids.push_back(i);
      features.push_back(leaf ? 0 : node.feature);
      thresholds.push_back(leaf ? 0 : node.threshold);
      modes.emplace_back(leaf ? "LEAF" : "BRANCH_LEQ");
      yes.push_back(leaf ? 0 : tree.left(i));
      no.push_back(leaf ? 0 : tree.right(i));
      for (int64_t o = 0; leaf && o < tree.outputs; ++o) {
        leaf_trees.push_back(static_cast<int64_t>(t));
        leaf_ids.push_back(i);
        outputs.push_back(o);
        values.push_back(tree.value(i)[o] * share);
      }
    }
  }
  const std::vector<std::string> names =
      labels ? std::vector<std::string>{"label", "scores"} : std::vector<std::string>{"y"};
  Node node(labels ? "TreeEnsembleClassifier" : "TreeEnsembleRegressor", input, names);
  node.integers("nodes_treeids", trees).integers("nodes_nodeids", ids);
  node.integers("nodes_featureids", features).numbers("nodes_values", thresholds);
  node.texts("nodes_modes", modes);
  node.integers("nodes_truenodeids", yes).integers("nodes_falsenodeids", no);
  const std::string prefix = labels ? "class_" : "target_";
  node.integers(prefix + "treeids", leaf_trees).integers(prefix + "nodeids", leaf_ids);
  node.integers(prefix + "ids", outputs).numbers(prefix + "weights", values);
  node.text("post_transform", "NONE");
  if (!labels) return node.integer("n_targets", parts.trees[0].outputs).take();
  return add_labels(node, *labels, "classlabels_int64s").take();
}

/// The scaler as an operator, if there is one. Returns the name of its output.
std::string add_scaler(const SavedModel& saved, ProtoWriter& graph) {
  if (!saved.scaler) return "X";
  std::vector<double> factors = saved.scaler->scale();
  for (double& factor : factors) factor = 1 / factor;
  graph.message(1, Node("Scaler", "X", {"scaled"})
                       .numbers("offset", saved.scaler->offset())
                       .numbers("scale", factors)
                       .take());
  return "scaled";
}

}  // namespace

ByteVector encode_onnx(const SavedModel& saved) {
  const Model& model = *saved.model;
  const std::optional<LinearParts> linear = model.linear_parts();
  const std::optional<ForestParts> trees = model.forest_parts();
  if (!linear && !trees)
    throw Error(message("onnx", "expected a linear model, a tree or a forest, got ", model.name()));
  if (saved.columns && saved.columns->has_texts())
    throw Error(message("onnx", "expected columns of numbers, got columns with texts"));
  ProtoWriter graph;
  const std::string input = add_scaler(saved, graph);
  const std::vector<int32_t>& classes = linear ? linear->classes : trees->classes;
  std::optional<Labels> labels;
  if (!classes.empty()) labels = labels_of(classes, saved.class_names);
  if (trees)
    graph.message(1, forest(*trees, input, labels));
  else
    graph.message(
        1, labels ? linear_classifier(*linear, input, *labels) : linear_regressor(*linear, input));
  graph.text(2, model.name());
  graph.message(11, value_info("X", kFloat, model.features()));
  if (labels) {
    graph.message(12, value_info("label", labels->texts.empty() ? kInt64 : kString, 0));
    graph.message(12, value_info("scores", kFloat, static_cast<int64_t>(classes.size())));
  } else {
    graph.message(
        12, value_info("y", kFloat, trees ? trees->trees[0].outputs : linear->intercept.size()));
  }
  ProtoWriter file;
  file.integer(1, kIrVersion).text(2, "kaiseki").message(7, std::move(graph));
  file.message(8, ProtoWriter().text(1, "").integer(2, kOpset));
  file.message(8, ProtoWriter().text(1, kDomain).integer(2, kMlOpset));
  return file.encode();
}

void write_onnx(const std::filesystem::path& path, const SavedModel& saved) {
  write_file_atomic(path, encode_onnx(saved));
}

}  // namespace kaiseki::ml
