// SPDX-License-Identifier: MIT
#include "ml/tree/decision_tree.h"

#include <algorithm>
#include <utility>

#include "ml/metrics/classification.h"
#include "ml/metrics/regression.h"
#include "ml/samples.h"
#include "ml/tree/tree_grower.h"
#include "ml/tree/tree_samples.h"

namespace kaiseki::ml {
namespace {

constexpr std::string_view kClassifier = "DecisionTreeClassifier";
constexpr std::string_view kRegressor = "DecisionTreeRegressor";

/// The leaf of each row of x.
std::vector<int32_t> leaves_of(const Tree& tree, const Tensor& x, std::string_view name) {
  check_fitted(!tree.nodes.empty(), name);
  check_samples(x, static_cast<int64_t>(tree.importance.size()), name);
  return find_leaves(tree, on_host(x));
}

/// [rows, outputs]: the values of the leaves.
Tensor values_of(const Tree& tree, const std::vector<int32_t>& leaves, const Shape& shape,
                 Device device) {
  std::vector<float> values;
  values.reserve(leaves.size() * static_cast<size_t>(tree.outputs));
  for (const int32_t leaf : leaves)
    values.insert(values.end(), tree.value(leaf), tree.value(leaf) + tree.outputs);
  return Tensor::from(std::span<const float>(values), shape, device);
}

}  // namespace

DecisionTreeClassifier::DecisionTreeClassifier(DecisionTreeClassifierOptions options)
    : options_(std::move(options)) {
  check_tree_options(options_, kClassifier);
}

void DecisionTreeClassifier::fit(const Tensor& x, const Tensor& y) {
  check_samples(x, kClassifier);
  ClassTargets targets(y, x.dim(0), options_.class_weight, kClassifier);
  const TreeGrowth growth = tree_growth(options_, x.dim(1), kClassifier);
  const TreeData data(x);
  tree_ = grow_class_tree(data, targets.samples(), targets, options_.criterion, growth);
  classes_ = std::move(targets.labels.classes);
}

Tensor DecisionTreeClassifier::predict(const Tensor& x) const {
  std::vector<int32_t> codes = leaves_of(tree_, x, kClassifier);
  for (int32_t& code : codes) {
    const float* parts = tree_.value(code);
    code = static_cast<int32_t>(std::max_element(parts, parts + tree_.outputs) - parts);
  }
  return decode_labels(codes, classes_, x.device());
}

Tensor DecisionTreeClassifier::predict_proba(const Tensor& x) const {
  const std::vector<int32_t> leaves = leaves_of(tree_, x, kClassifier);
  return values_of(tree_, leaves, {x.dim(0), tree_.outputs}, x.device());
}

Tensor DecisionTreeClassifier::apply(const Tensor& x) const {
  return tensor_from(leaves_of(tree_, x, kClassifier), x.device());
}

double DecisionTreeClassifier::score(const Tensor& x, const Tensor& y) const {
  return accuracy_score(y, predict(x));
}

const Tree& DecisionTreeClassifier::tree() const {
  check_fitted(!tree_.nodes.empty(), kClassifier);
  return tree_;
}

const std::vector<int32_t>& DecisionTreeClassifier::classes() const {
  tree();
  return classes_;
}

Tensor DecisionTreeClassifier::feature_importances() const { return importances({&tree(), 1}); }

DecisionTreeRegressor::DecisionTreeRegressor(DecisionTreeRegressorOptions options)
    : options_(options) {
  check_tree_options(options_, kRegressor);
}

void DecisionTreeRegressor::fit(const Tensor& x, const Tensor& y) {
  check_samples(x, kRegressor);
  const RealTargets targets(y, x, kRegressor);
  const TreeGrowth growth = tree_growth(options_, x.dim(1), kRegressor);
  const TreeData data(x);
  tree_ = grow_regression_tree(data, targets.samples(), targets, growth);
  one_output_ = targets.one_output;
}

Tensor DecisionTreeRegressor::predict(const Tensor& x) const {
  const std::vector<int32_t> leaves = leaves_of(tree_, x, kRegressor);
  const Shape shape = one_output_ ? Shape{x.dim(0)} : Shape{x.dim(0), tree_.outputs};
  return values_of(tree_, leaves, shape, x.device());
}

Tensor DecisionTreeRegressor::apply(const Tensor& x) const {
  return tensor_from(leaves_of(tree_, x, kRegressor), x.device());
}

double DecisionTreeRegressor::score(const Tensor& x, const Tensor& y) const {
  return r2_score(y, predict(x));
}

const Tree& DecisionTreeRegressor::tree() const {
  check_fitted(!tree_.nodes.empty(), kRegressor);
  return tree_;
}

Tensor DecisionTreeRegressor::feature_importances() const { return importances({&tree(), 1}); }

}  // namespace kaiseki::ml
