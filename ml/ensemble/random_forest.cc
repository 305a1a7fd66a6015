// SPDX-License-Identifier: MIT
#include "ml/ensemble/random_forest.h"

#include <algorithm>
#include <utility>

#include "ml/ensemble/forest.h"
#include "ml/metrics/classification.h"
#include "ml/metrics/regression.h"
#include "ml/samples.h"
#include "ml/tree/tree_grower.h"
#include "ml/tree/tree_samples.h"

namespace kaiseki::ml {
namespace {

constexpr std::string_view kClassifier = "RandomForestClassifier";
constexpr std::string_view kRegressor = "RandomForestRegressor";

template <class Options>
void check_forest_options(const Options& options, std::string_view name) {
  check_at_least(options.n_estimators, 1, "n_estimators", name);
  check_tree_options(options, name);
  if (options.oob_score && !options.bootstrap)
    throw Error(message(name, "oob_score needs bootstrap samples"));
}

/// x on the CPU.
Tensor checked(const std::vector<Tree>& trees, const Tensor& x, std::string_view name) {
  check_fitted(!trees.empty(), name);
  check_samples(x, static_cast<int64_t>(trees[0].importance.size()), name);
  return on_host(x);
}

/// grow(samples, growth) returns a tree.
template <class Options, class Targets, class Grow>
std::vector<Tree> grow_trees(const Options& options, const Targets& targets, int64_t n,
                             TreeGrowth growth, const Grow& grow) {
  growth.forest = true;
  return grow_forest(options.n_estimators, [&](uint64_t tree) {
    TreeGrowth own = growth;
    own.tree = tree;
    return grow(options.bootstrap ? targets.samples(bootstrap_counts(n, options.seed, tree))
                                  : targets.samples(),
                own);
  });
}

/// The class of the largest mean of each row.
std::vector<int32_t> largest(const std::vector<double>& means, size_t classes) {
  std::vector<int32_t> codes;
  for (auto row = means.begin(); row != means.end(); row += static_cast<std::ptrdiff_t>(classes))
    codes.push_back(static_cast<int32_t>(
        std::max_element(row, row + static_cast<std::ptrdiff_t>(classes)) - row));
  return codes;
}

double checked_oob_score(bool fitted, const std::optional<double>& score, std::string_view name) {
  check_fitted(fitted, name);
  require(score.has_value(), name,
          "expected the option oob_score, and samples that a tree left out");
  return *score;
}

}  // namespace

RandomForestClassifier::RandomForestClassifier(RandomForestClassifierOptions options)
    : options_(std::move(options)) {
  check_forest_options(options_, kClassifier);
}

void RandomForestClassifier::fit(const Tensor& x, const Tensor& y) {
  check_samples(x, kClassifier);
  ClassTargets targets(y, x.dim(0), options_.class_weight, kClassifier);
  const TreeGrowth growth = tree_growth(options_, x.dim(1), kClassifier);
  const TreeData data(x);
  trees_ = grow_trees(options_, targets, x.dim(0), growth,
                      [&](std::vector<TreeSample> samples, const TreeGrowth& own) {
                        return grow_class_tree(data, std::move(samples), targets,
                                               options_.criterion, own);
                      });
  oob_score_.reset();
  if (options_.oob_score) {
    const OutOfBag result = out_of_bag(trees_, data.values, options_.seed);
    const std::vector<int32_t> codes = largest(result.means, targets.weights.size());
    double right = 0;
    for (size_t i = 0; i < codes.size(); ++i)
      right += codes[i] == targets.labels.codes[result.rows[i]];
    if (!codes.empty()) oob_score_ = right / static_cast<double>(codes.size());
  }
  classes_ = std::move(targets.labels.classes);
}

Tensor RandomForestClassifier::predict(const Tensor& x) const {
  const std::vector<double> means = mean_of_trees(trees_, checked(trees_, x, kClassifier));
  return decode_labels(largest(means, classes_.size()), classes_, x.device());
}

Tensor RandomForestClassifier::predict_proba(const Tensor& x) const {
  const std::vector<double> means = mean_of_trees(trees_, checked(trees_, x, kClassifier));
  return tensor_from(means, {x.dim(0), static_cast<int64_t>(classes_.size())}, x.device());
}

Tensor RandomForestClassifier::apply(const Tensor& x) const {
  return leaves_of_trees(trees_, checked(trees_, x, kClassifier)).to(x.device());
}

double RandomForestClassifier::score(const Tensor& x, const Tensor& y) const {
  return accuracy_score(y, predict(x));
}

const std::vector<Tree>& RandomForestClassifier::trees() const {
  check_fitted(!trees_.empty(), kClassifier);
  return trees_;
}

const std::vector<int32_t>& RandomForestClassifier::classes() const {
  trees();
  return classes_;
}

Tensor RandomForestClassifier::feature_importances() const { return importances(trees()); }

double RandomForestClassifier::oob_score() const {
  return checked_oob_score(!trees_.empty(), oob_score_, kClassifier);
}

RandomForestRegressor::RandomForestRegressor(RandomForestRegressorOptions options)
    : options_(options) {
  check_forest_options(options_, kRegressor);
}

void RandomForestRegressor::fit(const Tensor& x, const Tensor& y) {
  check_samples(x, kRegressor);
  const RealTargets targets(y, x, kRegressor);
  const TreeGrowth growth = tree_growth(options_, x.dim(1), kRegressor);
  const TreeData data(x);
  trees_ = grow_trees(options_, targets, x.dim(0), growth,
                      [&](std::vector<TreeSample> samples, const TreeGrowth& own) {
                        return grow_regression_tree(data, std::move(samples), targets, own);
                      });
  one_output_ = targets.one_output;
  oob_score_.reset();
  if (options_.oob_score) {
    const OutOfBag result = out_of_bag(trees_, data.values, options_.seed);
    const size_t outputs = targets.means.size();
    std::vector<double> truth;
    for (const int64_t row : result.rows)
      for (size_t o = 0; o < outputs; ++o)
        truth.push_back(targets.centered[row * outputs + o] + targets.means[o]);
    const Shape shape{static_cast<int64_t>(result.rows.size()), static_cast<int64_t>(outputs)};
    if (!truth.empty())
      oob_score_ = r2_score(tensor_from(truth, shape, Device::cpu()),
                            tensor_from(result.means, shape, Device::cpu()));
  }
}

Tensor RandomForestRegressor::predict(const Tensor& x) const {
  const std::vector<double> means = mean_of_trees(trees_, checked(trees_, x, kRegressor));
  const int64_t outputs = trees_[0].outputs;
  return tensor_from(means, one_output_ ? Shape{x.dim(0)} : Shape{x.dim(0), outputs}, x.device());
}

Tensor RandomForestRegressor::apply(const Tensor& x) const {
  return leaves_of_trees(trees_, checked(trees_, x, kRegressor)).to(x.device());
}

double RandomForestRegressor::score(const Tensor& x, const Tensor& y) const {
  return r2_score(y, predict(x));
}

const std::vector<Tree>& RandomForestRegressor::trees() const {
  check_fitted(!trees_.empty(), kRegressor);
  return trees_;
}

Tensor RandomForestRegressor::feature_importances() const { return importances(trees()); }

double RandomForestRegressor::oob_score() const {
  return checked_oob_score(!trees_.empty(), oob_score_, kRegressor);
}

}  // namespace kaiseki::ml
