// SPDX-License-Identifier: MIT
#include "ml/model/settings.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace kaiseki::ml {
namespace {

/// null, "balanced", or an object of weights by label: {"0": 1, "1": 5}.
void describe_weights(Archive& archive, ClassWeights& weights) {
  constexpr std::string_view kName = "class_weight";
  Json value;
  if (weights.balanced) value = "balanced";
  if (!weights.values.empty()) {
    value = Json::object();
    for (const auto& pair : weights.values) value.set(std::to_string(pair.first), pair.second);
  }
  archive(kName, value);
  weights = {};
  if (value == Json("balanced")) {
    weights.balanced = true;
    return;
  }
  if (!value.is(Json::Kind::object) && !value.is(Json::Kind::null))
    archive.fail(kName, "expected null, \"balanced\" or an object, got " + value.describe());
  for (size_t i = 0; i < value.keys.size(); ++i) {
    const std::string& key = value.keys[i];
    const auto label = parse_number<int32_t>(key);
    if (!label) archive.fail(kName, "expected labels that are integers, got '" + key + "'");
    if (!value.items[i].is(Json::Kind::number))
      archive.fail(kName, "expected a number, got " + value.items[i].describe());
    weights.values[*label] = value.items[i].number;
  }
}

/// null, a whole number, or a part of the variance.
void describe_count(Archive& archive, ComponentCount& count) {
  constexpr std::string_view kName = "n_components";
  Json value;
  if (const auto* whole = std::get_if<int64_t>(&count)) value = *whole;
  if (const auto* part = std::get_if<double>(&count)) value = *part;
  archive(kName, value);
  count = {};
  if (value.is(Json::Kind::null)) return;
  if (!value.is(Json::Kind::number))
    archive.fail(kName, "expected a number or null, got " + value.describe());
  if (value.is_integer())
    count = static_cast<int64_t>(value.number);
  else
    count = value.number;
}

/// A list of numbers, or null for an empty one.
void describe_numbers(Archive& archive, std::string_view name, std::vector<double>& numbers) {
  Json value;
  if (!numbers.empty()) value = Json::array({numbers.begin(), numbers.end()});
  archive(name, value);
  numbers.clear();
  if (!value.is(Json::Kind::array) && !value.is(Json::Kind::null))
    archive.fail(name, "expected a list of numbers or null, got " + value.describe());
  for (const Json& item : value.items) {
    if (!item.is(Json::Kind::number))
      archive.fail(name, "expected a number, got " + item.describe());
    numbers.push_back(item.number);
  }
}

/// "scale", "auto" or a number.
void describe_gamma(Archive& archive, Gamma& gamma) {
  constexpr std::string_view kName = "gamma";
  Json value = gamma.rule == GammaRule::scale ? "scale" : "auto";
  if (gamma.is_number) value = gamma.value;
  archive(kName, value);
  if (value.is(Json::Kind::number))
    gamma = value.number;
  else if (value == Json("scale") || value == Json("auto"))
    gamma = value == Json("scale") ? GammaRule::scale : GammaRule::automatic;
  else
    archive.fail(kName, "expected scale, auto or a number, got " + value.describe());
}

/// null (all), "sqrt", "log2", a number of features, or a part of them.
void describe_max_features(Archive& archive, MaxFeatures& most) {
  constexpr std::string_view kName = "max_features";
  Json value;
  if (const auto* rule = std::get_if<FeatureCount>(&most); rule && *rule != FeatureCount::all)
    value = *rule == FeatureCount::sqrt ? "sqrt" : "log2";
  if (const auto* count = std::get_if<int64_t>(&most)) value = *count;
  if (const auto* part = std::get_if<double>(&most)) value = *part;
  // JSON has no difference between 1 and 1.0. All features are a part of 1.
  archive(kName, value);
  if (value.is(Json::Kind::null))
    most = FeatureCount::all;
  else if (value == Json("sqrt") || value == Json("log2"))
    most = value == Json("sqrt") ? FeatureCount::sqrt : FeatureCount::log2;
  else if (value.is_integer())
    most = static_cast<int64_t>(value.number);
  else if (value.is(Json::Kind::number))
    most = value.number;
  else
    archive.fail(kName, "expected null, sqrt, log2 or a number, got " + value.describe());
}

/// The settings of all trees.
template <class Options>
void describe_growth(Archive& archive, Options& o) {
  archive("max_depth", o.max_depth);
  archive("min_samples_split", o.min_samples_split);
  archive("min_samples_leaf", o.min_samples_leaf);
  describe_max_features(archive, o.max_features);
  archive("min_impurity_decrease", o.min_impurity_decrease);
  archive("seed", o.seed);
}

template <class Options>
void describe_forest(Archive& archive, Options& o) {
  archive("n_estimators", o.n_estimators);
  describe_growth(archive, o);
  archive("bootstrap", o.bootstrap);
  archive("oob_score", o.oob_score);
}

template <class Options>
void describe_svm(Archive& archive, Options& o) {
  archive("C", o.c);
  archive("kernel", o.kernel, {"linear", "poly", "rbf"});
  archive("degree", o.degree);
  describe_gamma(archive, o.gamma);
  archive("coef0", o.coef0);
  archive("tol", o.tol);
  archive("cache_size", o.cache_size);
  archive("max_iter", o.max_iter);
}

void describe_penalty(Archive& archive, SgdPenalty& penalty, double& alpha, double& l1_ratio) {
  archive("penalty", penalty, {"none", "l2", "l1", "elasticnet"});
  archive("alpha", alpha);
  archive("l1_ratio", l1_ratio);
}

/// The settings of all learners that pass over the samples again and again.
template <class Options>
void describe_passes(Archive& archive, Options& o) {
  archive("fit_intercept", o.fit_intercept);
  archive("max_iter", o.max_iter);
  archive("tol", o.tol);
  archive("n_iter_no_change", o.n_iter_no_change);
  archive("shuffle", o.shuffle);
  archive("average", o.average);
  archive("seed", o.seed);
}

template <class Options>
void describe_sgd(Archive& archive, Options& o) {
  archive("loss", o.loss,
          {"hinge", "squared_hinge", "log_loss", "modified_huber", "perceptron", "huber",
           "squared_error", "epsilon_insensitive", "squared_epsilon_insensitive"});
  describe_penalty(archive, o.penalty, o.alpha, o.l1_ratio);
  archive("epsilon", o.epsilon);
  archive("learning_rate", o.learning_rate,
          {"constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"});
  archive("eta0", o.eta0);
  archive("power_t", o.power_t);
  describe_passes(archive, o);
}

void describe_common(Archive& archive, ConfidenceOptions& o) {
  archive("fit_intercept", o.fit_intercept);
  archive("max_iter", o.max_iter);
  archive("shuffle", o.shuffle);
  archive("seed", o.seed);
}

template <class Options>
void describe_kmeans(Archive& archive, Options& o) {
  archive("n_clusters", o.n_clusters);
  archive("init", o.init, {"k-means++", "random"});
  archive("n_init", o.n_init);
  archive("max_iter", o.max_iter);
  archive("tol", o.tol);
  archive("seed", o.seed);
}

}  // namespace

void describe(Archive& archive, LinearRegressionOptions& o) {
  archive("fit_intercept", o.fit_intercept);
  archive("solver", o.solver, {"auto", "qr"});
}

void describe(Archive& archive, RidgeOptions& o) {
  archive("alpha", o.alpha);
  archive("fit_intercept", o.fit_intercept);
}

void describe(Archive& archive, LassoOptions& o) {
  archive("alpha", o.alpha);
  archive("fit_intercept", o.fit_intercept);
  archive("max_iter", o.max_iter);
  archive("tol", o.tol);
  archive("positive", o.positive);
}

void describe(Archive& archive, ElasticNetOptions& o) {
  archive("alpha", o.alpha);
  archive("l1_ratio", o.l1_ratio);
  archive("fit_intercept", o.fit_intercept);
  archive("max_iter", o.max_iter);
  archive("tol", o.tol);
  archive("positive", o.positive);
}

void describe(Archive& archive, LogisticRegressionOptions& o) {
  archive("penalty", o.penalty, {"none", "l2"});
  archive("C", o.c);
  archive("fit_intercept", o.fit_intercept);
  describe_weights(archive, o.class_weight);
  archive("max_iter", o.max_iter);
  archive("tol", o.tol);
}

void describe(Archive& archive, SGDClassifierOptions& o) {
  describe_sgd(archive, o);
  describe_weights(archive, o.class_weight);
}

void describe(Archive& archive, SGDRegressorOptions& o) { describe_sgd(archive, o); }

void describe(Archive& archive, PerceptronOptions& o) {
  describe_penalty(archive, o.penalty, o.alpha, o.l1_ratio);
  archive("eta0", o.eta0);
  describe_passes(archive, o);
  describe_weights(archive, o.class_weight);
}

void describe(Archive& archive, PassiveAggressiveOptions& o) {
  archive("C", o.c);
  archive("loss", o.kind, {"hinge", "squared_hinge"});
  describe_passes(archive, o);
  describe_weights(archive, o.class_weight);
}

void describe(Archive& archive, PassiveAggressiveRegressorOptions& o) {
  archive("C", o.c);
  archive("epsilon", o.epsilon);
  archive("loss", o.kind, {"epsilon_insensitive", "squared_epsilon_insensitive"});
  describe_passes(archive, o);
}

void describe(Archive& archive, SVCOptions& o) {
  describe_svm(archive, o);
  describe_weights(archive, o.class_weight);
  archive("decision_function_shape", o.decision_function_shape, {"ovr", "ovo"});
}

void describe(Archive& archive, SVROptions& o) {
  describe_svm(archive, o);
  archive("epsilon", o.epsilon);
}

void describe(Archive& archive, DecisionTreeClassifierOptions& o) {
  archive("criterion", o.criterion, {"gini", "entropy"});
  describe_growth(archive, o);
  describe_weights(archive, o.class_weight);
}

void describe(Archive& archive, DecisionTreeRegressorOptions& o) { describe_growth(archive, o); }

void describe(Archive& archive, RandomForestClassifierOptions& o) {
  archive("criterion", o.criterion, {"gini", "entropy"});
  describe_forest(archive, o);
  describe_weights(archive, o.class_weight);
}

void describe(Archive& archive, RandomForestRegressorOptions& o) { describe_forest(archive, o); }

void describe(Archive& archive, ConfidenceWeightedOptions& o) {
  archive("eta", o.eta);
  describe_common(archive, o.common);
}

void describe(Archive& archive, SoftConfidenceWeightedOptions& o) {
  archive("eta", o.eta);
  archive("C", o.c);
  describe_common(archive, o.common);
}

void describe(Archive& archive, AROWOptions& o) {
  archive("r", o.r);
  describe_common(archive, o.common);
}

void describe(Archive& archive, NHERDOptions& o) {
  archive("C", o.c);
  describe_common(archive, o.common);
}

void describe(Archive& archive, GaussianNBOptions& o) {
  describe_numbers(archive, "priors", o.priors);
  archive("var_smoothing", o.var_smoothing);
}

void describe(Archive& archive, MultinomialNBOptions& o) {
  archive("alpha", o.alpha);
  archive("fit_prior", o.fit_prior);
  describe_numbers(archive, "class_prior", o.class_prior);
}

void describe(Archive& archive, KNeighborsOptions& o) {
  archive("n_neighbors", o.n_neighbors);
  archive("weights", o.weights, {"uniform", "distance"});
  archive("algorithm", o.algorithm, {"auto", "brute", "kd_tree"});
  archive("leaf_size", o.leaf_size);
}

void describe(Archive& archive, RadiusNeighborsOptions& o) {
  archive("radius", o.radius);
  archive("weights", o.weights, {"uniform", "distance"});
  archive("algorithm", o.algorithm, {"auto", "brute", "kd_tree"});
  archive("leaf_size", o.leaf_size);
}

void describe(Archive& archive, RadiusNeighborsClassifierOptions& o) {
  RadiusNeighborsOptions& common = o;
  describe(archive, common);
  archive("outlier_label", o.outlier_label);
}

void describe(Archive& archive, KMeansOptions& o) {
  describe_kmeans(archive, o);
  archive("algorithm", o.algorithm, {"hamerly", "lloyd"});
}

void describe(Archive& archive, MiniBatchKMeansOptions& o) {
  describe_kmeans(archive, o);
  archive("batch_size", o.batch_size);
  archive("max_no_improvement", o.max_no_improvement);
  archive("reassignment_ratio", o.reassignment_ratio);
}

void describe(Archive& archive, GaussianMixtureOptions& o) {
  archive("n_components", o.n_components);
  archive("covariance_type", o.covariance_type, {"full", "tied", "diag", "spherical"});
  archive("tol", o.tol);
  archive("reg_covar", o.reg_covar);
  archive("max_iter", o.max_iter);
  archive("n_init", o.n_init);
  archive("init_params", o.init_params, {"kmeans", "random"});
  archive("seed", o.seed);
}

void describe(Archive& archive, CCAOptions& o) {
  archive("n_components", o.n_components);
  archive("scale", o.scale);
}

void describe(Archive& archive, PCAOptions& o) {
  describe_count(archive, o.n_components);
  archive("whiten", o.whiten);
  archive("svd_solver", o.solver, {"auto", "full", "randomized"});
  archive("iterated_power", o.iterated_power);
  archive("n_oversamples", o.n_oversamples);
  archive("seed", o.seed);
}

void describe(Archive& archive, IncrementalPCAOptions& o) {
  archive("n_components", o.n_components);
  archive("whiten", o.whiten);
  archive("batch_size", o.batch_size);
}

void describe(Archive& archive, StandardScalerOptions& o) {
  archive("with_mean", o.with_mean);
  archive("with_std", o.with_std);
}

void describe(Archive& archive, MinMaxScalerOptions& o) {
  archive("low", o.low);
  archive("high", o.high);
  archive("clip", o.clip);
}

}  // namespace kaiseki::ml
