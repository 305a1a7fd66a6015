// SPDX-License-Identifier: MIT
#include "ml/tree/decision_tree.h"

#include <limits>
#include <set>

#include "base/error.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

const float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<double> wide(const Tensor& x) {
  if (x.dtype() == DType::i32) {
    const std::vector<int32_t> values = x.to_vector<int32_t>();
    return {values.begin(), values.end()};
  }
  const std::vector<float> values = x.to_vector();
  return {values.begin(), values.end()};
}

/// Compares with a tree that no tie decided.
template <class Model>
void check_tree(const Model& model, const MlSet& set, const MlCases& cases,
                const std::string& name) {
  std::vector<double> features, thresholds;
  for (const TreeNode& node : model.tree().nodes) {
    features.push_back(node.feature);
    thresholds.push_back(static_cast<double>(node.threshold));
  }
  CHECK(features == cases[name + ".feature"].values);
  CHECK(difference(thresholds, cases[name + ".threshold"].values) < 1e-6);
  CHECK(wide(model.apply(set.x)) == cases[name + ".apply"].values);
  CHECK(difference(model.feature_importances(), cases[name + ".importance"].values) < 1e-6);
  // In a leaf of balanced weights, rounding may decide between equal parts.
  const bool balanced = name.find("balanced") != std::string::npos;
  CHECK(model.score(set.x, set.y) ==
        doctest::Approx(cases[name + ".score"].values[0]).epsilon(balanced ? 0.1 : 1e-6));
}

void check_classifier(const MlSet& set, const MlCases& cases, const std::string& name,
                      DecisionTreeClassifierOptions options) {
  CAPTURE(name);
  options.max_depth = static_cast<int64_t>(cases[name + ".depth"].values[0]);
  DecisionTreeClassifier model(options);
  model.fit(set.x, set.y);
  check_tree(model, set, cases, name);
  CHECK(difference(model.predict_proba(set.x.slice(0, 0, 15)), cases[name + ".output"].values) <
        1e-6);
}

void check_regressor(const MlSet& set, const MlCases& cases, const std::string& name,
                     DecisionTreeRegressorOptions options) {
  CAPTURE(name);
  options.max_depth = static_cast<int64_t>(cases[name + ".depth"].values[0]);
  DecisionTreeRegressor model(options);
  model.fit(set.x, set.y);
  check_tree(model, set, cases, name);
  CHECK(difference(model.predict(set.x.slice(0, 0, 15)), cases[name + ".output"].values) < 1e-6);
}

/// The sets of make_ml_tree_cases.py.
MlSet tree_set(const std::string& name) {
  if (name == "blobs") return blobs_set(400, 5, 3, 40);
  if (name == "pairs") return blobs_set(300, 4, 2, 50);
  if (name == "levels") {
    MlSet set = regression_set(2000, 7, 1, 80);
    std::vector<double> levels = wide(set.y);
    const auto high = static_cast<double>(2.2f);
    for (double& y : levels) y = (y > 1.5) + (y > high);
    return {set.x, integers(levels, {2000})};
  }
  MlSet set = ml_set(name);
  if (name == "iris") set.x = set.x.slice(1, 1, 2);
  return set;
}

/// Most labels are the first one.
MlSet uneven(const MlSet& set) {
  std::vector<double> labels = wide(set.y);
  for (size_t i = 0; i < labels.size(); ++i)
    if (i % 5 != 0) labels[i] = labels[0];
  return {set.x, integers(labels, set.y.shape())};
}

}  // namespace

TEST_CASE("DecisionTreeClassifier: the trees of scikit-learn, where no tie decides") {
  const MlCases cases("tree.txt");
  for (const std::string name : {"iris", "cancer", "digits", "blobs", "pairs", "levels"}) {
    const MlSet set = tree_set(name);
    DecisionTreeClassifierOptions gini, entropy, leaf, split, decrease, balanced;
    entropy.criterion = TreeCriterion::entropy;
    leaf.min_samples_leaf = 7;
    split.min_samples_split = 30;
    decrease.min_impurity_decrease = 0.01;
    check_classifier(set, cases, name + ".gini", gini);
    check_classifier(set, cases, name + ".entropy", entropy);
    check_classifier(set, cases, name + ".leaf", leaf);
    check_classifier(set, cases, name + ".split", split);
    check_classifier(set, cases, name + ".decrease", decrease);
    gini.class_weight.values = entropy.class_weight.values = {{0, 3}, {1, 0.3}};
    check_classifier(set, cases, name + ".weights.gini", gini);
    check_classifier(set, cases, name + ".weights.entropy", entropy);
    if (name == "cancer") continue;
    balanced.class_weight.balanced = true;
    check_classifier(uneven(set), cases, name + ".balanced", balanced);
  }
}

TEST_CASE("DecisionTreeRegressor: the trees of scikit-learn, where no tie decides") {
  const MlCases cases("tree.txt");
  const MlSet iris = ml_set("iris"), digits = ml_set("digits");
  const std::pair<std::string, MlSet> sets[] = {
      {"one", regression_set(300, 7, 1, 60)},
      {"several", regression_set(200, 5, 3, 70)},
      {"iris", {iris.x.slice(1, 0, 3), iris.x.slice(1, 3, 1).contiguous().reshape({150})}},
      {"digits", {digits.x, floats(wide(digits.y), digits.y.shape())}}};
  for (const auto& named : sets) {
    DecisionTreeRegressorOptions options, leaf, decrease;
    leaf.min_samples_leaf = 7;
    decrease.min_impurity_decrease = 0.02;
    check_regressor(named.second, cases, named.first + ".error", options);
    check_regressor(named.second, cases, named.first + ".error.leaf", leaf);
    check_regressor(named.second, cases, named.first + ".error.decrease", decrease);
  }
}

TEST_CASE("DecisionTreeClassifier: a tree that can be checked by hand") {
  // The classes are 5 5 9 9 5 along the feature: two splits.
  const Tensor x{{1, 0}, {2, 0}, {3, 0}, {4, 0}, {6, 0}};
  DecisionTreeClassifier model;
  model.fit(x, integers({5, 5, 9, 9, 5}, {5}));
  const std::vector<TreeNode>& nodes = model.tree().nodes;
  REQUIRE(nodes.size() == 5);
  CHECK(nodes[0].feature == 0);
  CHECK(nodes[0].threshold == 2.5f);
  CHECK(nodes[0].next == 2);
  CHECK(model.tree().is_leaf(1));
  CHECK(nodes[2].threshold == 5);
  CHECK(model.tree().depth() == 2);
  CHECK(model.tree().leaf_count() == 3);
  CHECK(model.classes() == std::vector<int32_t>{5, 9});
  CHECK(wide(model.apply(Tensor{{2.5f, 7}, {2.6f, 7}, {5, 7}, {5.1f, 7}})) ==
        std::vector<double>{1, 3, 3, 4});
  CHECK(wide(model.predict(Tensor{{-9, 0}, {3, 0}, {100, 0}})) == std::vector<double>{5, 9, 5});
  CHECK(wide(model.feature_importances()) == std::vector<double>{1, 0});
  CHECK(model.score(x, integers({5, 5, 9, 9, 5}, {5})) == 1);
}

TEST_CASE("DecisionTreeRegressor: a tree that can be checked by hand") {
  // The means of 1 2 | 8 9 have the smallest squared errors.
  DecisionTreeRegressorOptions options;
  options.max_depth = 1;
  DecisionTreeRegressor model(options);
  const Tensor x{{1}, {2}, {3}, {4}}, y = floats({1, 2, 8, 9}, {4});
  model.fit(x, y);
  CHECK(model.tree().nodes[0].threshold == 2.5f);
  CHECK(wide(model.predict(Tensor{{0}, {3}})) == std::vector<double>{1.5, 8.5});
  CHECK(model.score(x, y) == doctest::Approx(1 - 1.0 / 50));
  DecisionTreeRegressor full;
  full.fit(x, y);
  CHECK(wide(full.predict(x)) == std::vector<double>{1, 2, 8, 9});
}

TEST_CASE(
    "DecisionTreeClassifier: equal splits go to the first feature and the smallest threshold") {
  DecisionTreeClassifier model;
  model.fit(Tensor{{0, 4, 4}, {0, 1, 1}, {0, 2, 2}, {0, 3, 3}}, integers({0, 1, 0, 1}, {4}));
  CHECK(model.tree().nodes[0].feature == 1);
  CHECK(model.tree().nodes[0].threshold == 1.5f);
}

TEST_CASE("DecisionTreeClassifier: mirrored splits are equal, so that rounding decides none") {
  for (const TreeCriterion criterion : {TreeCriterion::gini, TreeCriterion::entropy})
    for (int64_t side = 1; side < 40; ++side) {
      CAPTURE(side);
      // Labels 0 ... 0 1 2 1 ... 2 1 0 ... 0: the splits at the first and the last 0 are equal.
      const int64_t n = 4 * side + 1;
      std::vector<double> x, y;
      for (int64_t i = 0; i < n; ++i) {
        x.push_back(static_cast<double>(i));
        y.push_back(i < side || i >= n - side ? 0 : 1 + static_cast<double>((i - side) % 2));
      }
      DecisionTreeClassifierOptions options;
      options.criterion = criterion;
      DecisionTreeClassifier model(options);
      model.fit(floats(x, {n, 1}), integers(y, {n}));
      CHECK(static_cast<double>(model.tree().nodes[0].threshold) ==
            static_cast<double>(side) - 0.5);
    }
}

TEST_CASE("Decision trees: constant features, equal samples of different labels, and one sample") {
  DecisionTreeClassifier model;
  const Tensor constant = Tensor::full({4, 3}, 2);
  model.fit(constant, integers({1, 7, 7, 3}, {4}));
  CHECK(model.tree().nodes.size() == 1);
  CHECK(wide(model.predict(constant)) == std::vector<double>{7, 7, 7, 7});
  CHECK(difference(model.predict_proba(constant.slice(0, 0, 1)), {0.25, 0.25, 0.5}) == 0);
  CHECK(wide(model.feature_importances()) == std::vector<double>{0, 0, 0});
  // Samples 0 and 1 are equal. Equal parts give the first class.
  const Tensor x{{1, 5}, {1, 5}, {2, 5}};
  model.fit(x, integers({4, -4, 9}, {3}));
  CHECK(wide(model.predict(x)) == std::vector<double>{-4, -4, 9});
  model.fit(Tensor{{3, 4}}, integers({-2147483647 - 1.0}, {1}));
  CHECK(wide(model.predict(Tensor{{0, 0}})) == std::vector<double>{-2147483648.0});
  CHECK(difference(model.predict_proba(Tensor{{0, 0}}), {1}) == 0);
  DecisionTreeRegressor regressor;
  regressor.fit(constant, floats({1, 2, 3, 6}, {4}));
  CHECK(wide(regressor.predict(constant.slice(0, 0, 1))) == std::vector<double>{3});
  regressor.fit(Tensor{{3, 4}}, Tensor{{1, 2}});
  CHECK(regressor.predict(Tensor{{0, 0}}).shape() == Shape{1, 2});
  CHECK(wide(regressor.predict(Tensor{{0, 0}})) == std::vector<double>{1, 2});
}

TEST_CASE("Decision trees: values that are near each other, large, or zeros of both signs") {
  DecisionTreeClassifier model;
  const float next = std::nextafter(1.0f, 2.0f), most = std::numeric_limits<float>::max();
  const Tensor near{{1}, {next}}, tiny{{0}, {1e-40f}}, large{{-most}, {most}}, zeros{{0}, {-0.0f}};
  const Tensor y = integers({0, 1}, {2});
  for (const Tensor& x : {near, tiny, large}) {
    model.fit(x, y);
    CHECK(model.score(x, y) == 1);
  }
  model.fit(zeros, y);
  CHECK(model.tree().nodes.size() == 1);
  // A large mean must not hide small differences of the targets.
  DecisionTreeRegressor regressor;
  const Tensor x{{1}, {2}, {3}, {4}}, targets = floats({1e7, 1e7, 1e7 + 1, 1e7 + 1}, {4});
  regressor.fit(x, targets);
  CHECK(regressor.tree().nodes.size() == 3);
  CHECK(regressor.score(x, targets) == 1);
}

TEST_CASE("Decision trees: many values and codes of few values give the same tree") {
  const MlSet set = ml_set("digits");
  DecisionTreeClassifier codes, values;
  codes.fit(set.x, set.y);
  // A feature of many values that no split uses, because an equal feature comes first.
  const std::vector<float> x = set.x.to_vector();
  std::vector<double> wider;
  for (int64_t i = 0; i < set.x.dim(0); ++i) {
    wider.insert(wider.end(), x.begin() + i * 64, x.begin() + (i + 1) * 64);
    wider.push_back(i < 300 ? 1e-9 * static_cast<double>(i) : 1);
  }
  const Tensor more = floats(wider, {set.x.dim(0), 65});
  DecisionTreeClassifierOptions options;
  options.max_depth = 5;
  DecisionTreeClassifier first(options), second(options);
  first.fit(set.x, set.y);
  second.fit(more, set.y);
  REQUIRE(first.tree().nodes.size() == second.tree().nodes.size());
  for (size_t i = 0; i < first.tree().nodes.size(); ++i) {
    CHECK(first.tree().nodes[i].feature == second.tree().nodes[i].feature);
    CHECK(first.tree().nodes[i].threshold == second.tree().nodes[i].threshold);
  }
  CHECK(codes.score(set.x, set.y) == 1);
}

TEST_CASE("Decision trees: the same bits for any number of threads, views and devices") {
  const MlSet set = ml_set("digits"), real = regression_set(3000, 6, 1, 3);
  std::vector<std::vector<double>> thresholds, values;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    DecisionTreeClassifier model;
    model.fit(set.x, set.y);
    DecisionTreeRegressor regressor;
    regressor.fit(real.x, real.y);
    thresholds.emplace_back();
    for (const Tree& tree : {model.tree(), regressor.tree()})
      for (const TreeNode& node : tree.nodes) {
        thresholds.back().push_back(static_cast<double>(node.threshold));
        thresholds.back().push_back(node.feature);
      }
    values.push_back(wide(regressor.predict(real.x)));
  }
  set_thread_count(0);
  CHECK(thresholds[0] == thresholds[1]);
  CHECK(thresholds[0] == thresholds[2]);
  CHECK(values[0] == values[1]);
  CHECK(values[0] == values[2]);
  DecisionTreeClassifier whole, view;
  whole.fit(set.x.slice(1, 10, 40).contiguous(), set.y);
  view.fit(set.x.slice(1, 10, 40), set.y);
  const std::vector<double> leaves = wide(whole.apply(set.x.slice(1, 10, 40)));
  CHECK(leaves == wide(view.apply(set.x.slice(1, 10, 40).contiguous())));
  for_each_device([&](Device device) {
    const MlSet there = MlSet{set.x.slice(1, 10, 40).contiguous(), set.y}.to(device);
    DecisionTreeClassifier model;
    model.fit(there.x, there.y);
    CHECK(model.predict(there.x).device() == device);
    CHECK(wide(model.apply(there.x)) == leaves);
    CHECK(model.score(there.x, there.y) == 1);
  });
}

TEST_CASE("Decision trees: max_features draws by the seed") {
  const MlSet set = ml_set("digits");
  std::set<size_t> sizes;
  for (const MaxFeatures& features :
       {MaxFeatures(FeatureCount::sqrt), MaxFeatures(FeatureCount::log2), MaxFeatures(int64_t{9}),
        MaxFeatures(0.5)}) {
    DecisionTreeClassifierOptions options;
    options.max_features = features;
    options.seed = 4;
    DecisionTreeClassifier model(options), again(options);
    model.fit(set.x, set.y);
    again.fit(set.x, set.y);
    CHECK(wide(model.apply(set.x)) == wide(again.apply(set.x)));
    CHECK(model.score(set.x, set.y) == 1);
    sizes.insert(model.tree().nodes.size());
    options.seed = 5;
    DecisionTreeClassifier other(options);
    other.fit(set.x, set.y);
    CHECK(wide(model.apply(set.x)) != wide(other.apply(set.x)));
  }
  CHECK(sizes.size() > 1);
}

TEST_CASE("DecisionTreeClassifier: class weights, also of 0") {
  DecisionTreeClassifierOptions options;
  options.class_weight.values = {{7, 0}};
  DecisionTreeClassifier model(options);
  const Tensor x{{1}, {1}, {1}, {2}};
  model.fit(x, integers({7, 7, 3, 5}, {4}));
  CHECK(wide(model.predict(x)) == std::vector<double>{3, 3, 3, 5});
  CHECK(model.classes() == std::vector<int32_t>{3, 5, 7});
  CHECK(difference(model.predict_proba(x.slice(0, 0, 1)), {1, 0, 0}) == 0);
  options.class_weight.values = {{7, 1}, {3, 4}};
  DecisionTreeClassifier weighted(options);
  weighted.fit(x, integers({7, 7, 3, 5}, {4}));
  CHECK(wide(weighted.predict(x.slice(0, 0, 1))) == std::vector<double>{3});
  options.class_weight.values = {{7, 0}, {3, 0}, {5, 0}};
  CHECK_THROWS_AS(DecisionTreeClassifier(options).fit(x, integers({7, 7, 3, 5}, {4})), ShapeError);
}

TEST_CASE("Decision trees: errors") {
  DecisionTreeClassifierOptions bad;
  bad.max_depth = 0;
  CHECK_THROWS_AS(DecisionTreeClassifier{bad}, Error);
  bad = {};
  bad.min_samples_split = 1;
  CHECK_THROWS_AS(DecisionTreeClassifier{bad}, Error);
  bad = {};
  bad.min_samples_leaf = 0;
  CHECK_THROWS_AS(DecisionTreeClassifier{bad}, Error);
  bad = {};
  bad.min_impurity_decrease = -1;
  CHECK_THROWS_AS(DecisionTreeClassifier{bad}, Error);
  for (const MaxFeatures& features :
       {MaxFeatures(int64_t{0}), MaxFeatures(0.0), MaxFeatures(1.5)}) {
    DecisionTreeRegressorOptions options;
    options.max_features = features;
    CHECK_THROWS_AS(DecisionTreeRegressor{options}, Error);
  }
  DecisionTreeClassifier model;
  DecisionTreeRegressor regressor;
  const Tensor x{{1, 2}, {3, 4}}, y = integers({0, 1}, {2}), real = floats({0, 1}, {2});
  CHECK_THROWS_AS(model.predict(x), ShapeError);
  CHECK_THROWS_AS(model.apply(x), ShapeError);
  CHECK_THROWS_AS(model.classes(), ShapeError);
  CHECK_THROWS_AS(model.feature_importances(), ShapeError);
  CHECK_THROWS_AS(regressor.predict(x), ShapeError);
  CHECK_THROWS_AS(regressor.tree(), ShapeError);
  for (const float value : {kNan, kInfinity, -kInfinity}) {
    CHECK_THROWS_AS(model.fit(Tensor{{1, 2}, {3, value}}, y), ShapeError);
    CHECK_THROWS_AS(regressor.fit(x, Tensor::from({0, value}, {2})), ShapeError);
  }
  CHECK_THROWS_AS(model.fit(x, real), ShapeError);
  CHECK_THROWS_AS(model.fit(x, integers({0, 1, 2}, {3})), ShapeError);
  CHECK_THROWS_AS(model.fit(x.reshape({4}), integers({0, 1, 2, 3}, {4})), ShapeError);
  CHECK_THROWS_AS(model.fit(Tensor::zeros({0, 2}), Tensor::zeros({0}, DType::i32)), ShapeError);
  CHECK_THROWS_AS(regressor.fit(x, y), ShapeError);
  DecisionTreeRegressorOptions three;
  three.max_features = int64_t{3};
  CHECK_THROWS_AS(DecisionTreeRegressor(three).fit(x, real), ShapeError);
  model.fit(x, y);
  CHECK_THROWS_AS(model.predict(Tensor{{1, 2, 3}}), ShapeError);
  CHECK_THROWS_AS(model.predict(Tensor{{1, kNan}}), ShapeError);
  // A fit that fails keeps the model.
  CHECK_THROWS_AS(model.fit(x, real), ShapeError);
  CHECK(model.score(x, y) == 1);
}
