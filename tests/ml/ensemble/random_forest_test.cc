// SPDX-License-Identifier: MIT
#include "ml/ensemble/random_forest.h"

#include <limits>
#include <numeric>

#include "base/error.h"
#include "matrix/ops/copy.h"
#include "matrix/threads.h"
#include "ml/ensemble/forest.h"
#include "ml/tree/decision_tree.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"
#include "tests/support/real_sets.h"
#include "tests/support/seeds.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

/// Compares 20 seeds with those of scikit-learn. Returns the difference of the held-out scores in
/// standard errors.
template <class Model, class Options>
double compare_forest(const MlSet& set, const MlCases& cases, const std::string& name,
                      Options options) {
  CAPTURE(name);
  const TrainingAndTest parts = fifth_for_test(set);
  std::vector<double> scores, oob, nodes, importance(static_cast<size_t>(set.x.dim(1)));
  options.n_estimators = 25;
  options.oob_score = options.bootstrap;
  for (int seed = 0; seed < kSeeds; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    Model model(options);
    model.fit(parts.train.x, parts.train.y);
    scores.push_back(model.score(parts.test.x, parts.test.y));
    if (options.bootstrap) oob.push_back(model.oob_score());
    nodes.push_back(0);
    for (const Tree& tree : model.trees()) nodes.back() += static_cast<double>(tree.nodes.size());
    const std::vector<float> parts_of_features = model.feature_importances().to_vector();
    for (size_t j = 0; j < importance.size(); ++j)
      importance[j] += static_cast<double>(parts_of_features[j]) / kSeeds;
  }
  const SeedSample ours = seed_sample(scores), theirs = seed_sample(cases[name + ".scores"].values);
  CAPTURE(ours.mean);
  CAPTURE(theirs.mean);
  CAPTURE(standard_error(ours, theirs));
  const double score_error = errors_between(scores, cases[name + ".scores"].values, 0);
  CHECK(score_error < kMostErrors);
  const SeedSample our_nodes = seed_sample(nodes),
                   their_nodes = seed_sample(cases[name + ".nodes"].values);
  CAPTURE(our_nodes.mean);
  CAPTURE(their_nodes.mean);
  CHECK(std::abs(our_nodes.mean - their_nodes.mean) <=
        kMostErrors * standard_error(our_nodes, their_nodes));
  CHECK(difference(importance, cases[name + ".importance"].values) < 0.04);
  if (!options.bootstrap) return score_error;
  const SeedSample our_oob = seed_sample(oob), their_oob = seed_sample(cases[name + ".oob"].values);
  CAPTURE(our_oob.mean);
  CAPTURE(their_oob.mean);
  CHECK(std::abs(our_oob.mean - their_oob.mean) <=
        kMostErrors * standard_error(our_oob, their_oob));
  return score_error;
}

std::vector<float> bits(const Tensor& x) { return x.to_vector(); }

}  // namespace

TEST_CASE("Random forests: held-out scores within one standard error of scikit-learn, as a mean") {
  const MlCases cases("ensemble.txt");
  using Classifier = RandomForestClassifier;
  using Regressor = RandomForestRegressor;
  const RandomForestClassifierOptions options;
  const RandomForestRegressorOptions regression;
  const MlSet blobs = blobs_set(600, 5, 3, 40), one = regression_set(600, 7, 1, 60);
  double errors = 0;
  for (const std::string name : {"iris", "cancer", "digits"})
    errors += compare_forest<Classifier>(ml_set(name), cases, name, options);
  RandomForestClassifierOptions entropy, leaf, all;
  entropy.criterion = TreeCriterion::entropy;
  leaf.min_samples_leaf = 5;
  all.bootstrap = false;
  all.max_features = FeatureCount::log2;
  errors += compare_forest<Classifier>(blobs, cases, "blobs", options);
  errors += compare_forest<Classifier>(blobs, cases, "blobs.entropy", entropy);
  errors += compare_forest<Classifier>(blobs, cases, "blobs.leaf", leaf);
  errors += compare_forest<Classifier>(blobs, cases, "blobs.all", all);
  RandomForestRegressorOptions third;
  third.max_features = 0.34;
  errors += compare_forest<Regressor>(one, cases, "one", regression);
  errors += compare_forest<Regressor>(one, cases, "one.third", third);
  errors += compare_forest<Regressor>(regression_set(400, 5, 3, 70), cases, "several", regression);
  CHECK(errors / 10 <= 1);
}

TEST_CASE("Decision trees: held-out scores are among those of scikit-learn's random ties") {
  const MlCases cases("ensemble.txt");
  const auto check = [&](const std::string& name, double score) {
    CAPTURE(name);
    CAPTURE(score);
    const SeedSample theirs = seed_sample(cases[name + ".tree.scores"].values);
    const double deviation = theirs.error * std::sqrt(static_cast<double>(kSeeds));
    CHECK(std::abs(score - theirs.mean) <= 2.5 * deviation + 1e-9);
  };
  for (const std::string name : {"iris", "cancer", "digits", "blobs"}) {
    const TrainingAndTest parts =
        fifth_for_test(name == "blobs" ? blobs_set(600, 5, 3, 40) : ml_set(name));
    DecisionTreeClassifier model;
    model.fit(parts.train.x, parts.train.y);
    CHECK(model.score(parts.train.x, parts.train.y) == 1);
    check(name, model.score(parts.test.x, parts.test.y));
  }
  const TrainingAndTest parts = fifth_for_test(regression_set(600, 7, 1, 60));
  DecisionTreeRegressor model;
  model.fit(parts.train.x, parts.train.y);
  check("one", model.score(parts.test.x, parts.test.y));
}

TEST_CASE("Random forests: the same bits for 1, 2 and 3 threads, and the seed decides") {
  const MlSet set = blobs_set(300, 5, 3, 40), real = regression_set(300, 7, 2, 60);
  std::vector<std::vector<float>> results;
  std::vector<double> scores;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    RandomForestClassifierOptions options;
    options.n_estimators = 12;
    options.oob_score = true;
    RandomForestClassifier classifier(options);
    classifier.fit(set.x, set.y);
    RandomForestRegressorOptions more;
    more.n_estimators = 7;
    more.oob_score = true;
    RandomForestRegressor regressor(more);
    regressor.fit(real.x, real.y);
    results.push_back(bits(classifier.predict_proba(set.x)));
    const std::vector<float> means = bits(regressor.predict(real.x)),
                             importance = bits(classifier.feature_importances());
    results.back().insert(results.back().end(), means.begin(), means.end());
    results.back().insert(results.back().end(), importance.begin(), importance.end());
    scores.push_back(classifier.oob_score() + regressor.oob_score());
  }
  set_thread_count(0);
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
  CHECK(scores[0] == scores[1]);
  CHECK(scores[0] == scores[2]);
  RandomForestClassifierOptions options;
  options.n_estimators = 12;
  options.seed = 1;
  RandomForestClassifier other(options);
  other.fit(set.x, set.y);
  const std::vector<float> proba = bits(other.predict_proba(set.x));
  CHECK(proba != std::vector<float>(results[0].begin(), results[0].begin() + 900));
}

TEST_CASE("RandomForestClassifier: the mean of its trees, any labels, and every device") {
  const MlSet set = blobs_set(200, 4, 2, 50);
  std::vector<double> named;
  for (const int32_t label : set.y.to_vector<int32_t>()) named.push_back(label == 0 ? 90 : -7);
  const Tensor y = integers(named, {200});
  RandomForestClassifierOptions options;
  options.n_estimators = 9;
  options.min_samples_leaf = 3;
  RandomForestClassifier model(options);
  model.fit(set.x, y);
  CHECK(model.classes() == std::vector<int32_t>{-7, 90});
  const Tensor leaves = model.apply(set.x);
  CHECK(leaves.shape() == Shape{200, 9});
  const std::vector<int32_t> nodes = leaves.to_vector<int32_t>();
  std::vector<double> means(400);
  for (size_t i = 0; i < 200; ++i)
    for (size_t t = 0; t < 9; ++t)
      for (size_t c = 0; c < 2; ++c)
        means[i * 2 + c] += static_cast<double>(model.trees()[t].value(nodes[i * 9 + t])[c]) / 9;
  CHECK(difference(model.predict_proba(set.x), means) < 1e-6);
  const std::vector<int32_t> predicted = model.predict(set.x).to_vector<int32_t>();
  for (size_t i = 0; i < 200; ++i)
    CHECK(predicted[i] == (means[2 * i] >= means[2 * i + 1] ? -7 : 90));
  for_each_device([&](Device device) {
    RandomForestClassifier there(options);
    there.fit(set.x.to(device), y.to(device));
    CHECK(there.predict(set.x.to(device)).device() == device);
    CHECK(bits(there.predict_proba(set.x.to(device))) == bits(model.predict_proba(set.x)));
  });
}

TEST_CASE("bootstrap_counts: n draws, of which about 63 % of the samples are one or more") {
  const std::vector<uint16_t> counts = bootstrap_counts(20000, 1, 5);
  CHECK(std::accumulate(counts.begin(), counts.end(), 0) == 20000);
  const auto drawn = std::count_if(counts.begin(), counts.end(), [](uint16_t c) { return c > 0; });
  CHECK(std::abs(static_cast<double>(drawn) / 20000 - 0.632) < 0.01);
  CHECK(counts != bootstrap_counts(20000, 1, 6));
  CHECK(counts != bootstrap_counts(20000, 2, 5));
  CHECK(bootstrap_counts(1, 0, 0) == std::vector<uint16_t>{1});
}

TEST_CASE("Random forests: small sets, constant features, and class weights") {
  RandomForestClassifierOptions options;
  options.n_estimators = 5;
  RandomForestClassifier model(options);
  model.fit(Tensor{{1, 2}}, integers({3}, {1}));
  CHECK(model.predict(Tensor{{9, 9}}).to_vector<int32_t>() == std::vector<int32_t>{3});
  const Tensor constant = Tensor::full({6, 3}, 1);
  model.fit(constant, integers({1, 2, 2, 2, 2, 2}, {6}));
  CHECK(model.predict(constant).to_vector<int32_t>() == std::vector<int32_t>(6, 2));
  CHECK(bits(model.feature_importances()) == std::vector<float>{0, 0, 0});
  // With enough weight, the rare class wins.
  options.class_weight.values = {{1, 1000}};
  options.bootstrap = false;
  RandomForestClassifier weighted(options);
  weighted.fit(constant, integers({1, 2, 2, 2, 2, 2}, {6}));
  CHECK(weighted.predict(constant).to_vector<int32_t>() == std::vector<int32_t>(6, 1));
  // Without bootstrap samples and with all features, all trees are those of a single tree.
  const MlSet set = regression_set(100, 4, 1, 9);
  RandomForestRegressorOptions same;
  same.n_estimators = 3;
  same.bootstrap = false;
  RandomForestRegressor forest(same);
  DecisionTreeRegressor tree;
  forest.fit(set.x, set.y);
  tree.fit(set.x, set.y);
  CHECK(bits(forest.predict(set.x)) == bits(tree.predict(set.x)));
}

TEST_CASE("Random forests: errors") {
  RandomForestClassifierOptions none, oob;
  none.n_estimators = 0;
  CHECK_THROWS_AS(RandomForestClassifier{none}, Error);
  oob.oob_score = true;
  oob.bootstrap = false;
  CHECK_THROWS_AS(RandomForestClassifier{oob}, Error);
  RandomForestClassifier model;
  RandomForestRegressor regressor;
  const Tensor x{{1, 2}, {3, 4}}, y = integers({0, 1}, {2}), real = floats({0, 1}, {2});
  CHECK_THROWS_AS(model.predict(x), ShapeError);
  CHECK_THROWS_AS(model.oob_score(), ShapeError);
  CHECK_THROWS_AS(regressor.predict(x), ShapeError);
  CHECK_THROWS_AS(regressor.feature_importances(), ShapeError);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float value : {nan, infinity, -infinity}) {
    CHECK_THROWS_AS(model.fit(Tensor{{1, 2}, {3, value}}, y), ShapeError);
    CHECK_THROWS_AS(regressor.fit(x, Tensor::from({0, value}, {2})), ShapeError);
  }
  CHECK_THROWS_AS(model.fit(x, real), ShapeError);
  CHECK_THROWS_AS(regressor.fit(x, y), ShapeError);
  CHECK_THROWS_AS(model.fit(x, integers({1}, {1})), ShapeError);
  CHECK_THROWS_AS(model.fit(Tensor::zeros({0, 2}), Tensor::zeros({0}, DType::i32)), ShapeError);
  model.fit(x, y);
  CHECK_THROWS_AS(model.oob_score(), ShapeError);  // without the option
  CHECK_THROWS_AS(model.predict(Tensor{{1, 2, 3}}), ShapeError);
  CHECK_THROWS_AS(model.predict(Tensor{{1, nan}}), ShapeError);
}
