// SPDX-License-Identifier: MIT
// The fitted state of each estimator, for files. A file may be damaged or hostile: after reading,
// all sizes and indices are checked.
#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ml/archive.h"
#include "ml/cluster/kmeans.h"
#include "ml/cluster/mini_batch_kmeans.h"
#include "ml/decomposition/cca.h"
#include "ml/decomposition/incremental_pca.h"
#include "ml/decomposition/pca.h"
#include "ml/ensemble/random_forest.h"
#include "ml/linear/elastic_net.h"
#include "ml/linear/linear_regression.h"
#include "ml/linear/logistic_regression.h"
#include "ml/linear/ridge.h"
#include "ml/linear/sgd.h"
#include "ml/mixture/gaussian_mixture.h"
#include "ml/model/tree_state.h"
#include "ml/naive_bayes/gaussian_nb.h"
#include "ml/naive_bayes/multinomial_nb.h"
#include "ml/neighbors/kneighbors.h"
#include "ml/neighbors/radius_neighbors.h"
#include "ml/online/confidence.h"
#include "ml/preprocessing/min_max_scaler.h"
#include "ml/preprocessing/standard_scaler.h"
#include "ml/svm/svc.h"
#include "ml/svm/svr.h"
#include "ml/tree/decision_tree.h"

namespace kaiseki::ml {
namespace {

void expect_fit(const Archive& archive, bool condition, std::string_view name) {
  if (!condition) archive.fail(name, "expected a size or value that fits the model");
}

/// Checks the shape if the archive reads. A dimension of -1 may have any length.
void check_shape(const Archive& archive, std::string_view name, const Tensor& tensor,
                 const Shape& shape) {
  bool same = tensor.defined() && tensor.dtype() == DType::f32 && tensor.rank() == shape.rank();
  for (int i = 0; same && i < shape.rank(); ++i) same = shape[i] == -1 || shape[i] == tensor.dim(i);
  expect_fit(archive, same, name);
}

int64_t size_of(const auto& values) { return static_cast<int64_t>(values.size()); }

/// Ascending, without doubles. A classifier that is fitted has `least` or more.
void check_classes(const Archive& archive, const std::vector<int32_t>& classes, size_t least = 0) {
  expect_fit(archive, classes.size() >= least, "classes");
  expect_fit(
      archive,
      std::adjacent_find(classes.begin(), classes.end(), std::greater_equal<>()) == classes.end(),
      "classes");
}

/// One function for two classes, else one for each.
int64_t functions_of(const std::vector<int32_t>& classes) {
  return classes.size() == 2 ? 1 : size_of(classes);
}

void archive_gaussians(Archive& archive, Gaussians& g) {
  archive("type", g.type, {"full", "tied", "diag", "spherical"});
  archive("components", g.count);
  archive("component_features", g.features);
  archive("weights", g.weights);
  archive("means", g.means);
  archive("covariances", g.covariances);
  archive("factors", g.factors);
  constexpr int64_t kMost = 1 << 20;
  expect_fit(archive, g.count >= 0 && g.count < kMost, "components");
  expect_fit(archive, g.features >= 0 && g.features < kMost, "component_features");
  expect_fit(archive, size_of(g.weights) == g.count, "weights");
  expect_fit(archive, size_of(g.means) == g.count * g.features, "means");
  const int64_t elements = g.count ? g.covariance_shape().elements() : 0;
  expect_fit(archive, size_of(g.covariances) == elements, "covariances");
  expect_fit(archive, size_of(g.factors) == elements, "factors");
}

void archive_projection(Archive& archive, Projection& p) {
  archive("components", p.components);
  archive("explained_variance", p.explained_variance);
  archive("explained_variance_ratio", p.explained_variance_ratio);
  archive("singular_values", p.singular_values);
  archive("mean", p.mean);
  archive("noise_variance", p.noise_variance);
  archive("forward", p.forward);
  archive("forward_bias", p.forward_bias);
  archive("backward", p.backward);
  if (!archive.reads() || !p.defined()) return;
  check_shape(archive, "components", p.components, {-1, -1});
  const int64_t count = p.components.dim(0), features = p.components.dim(1);
  for (const auto& [name, tensor] : {std::pair("explained_variance", &p.explained_variance),
                                     {"explained_variance_ratio", &p.explained_variance_ratio},
                                     {"singular_values", &p.singular_values}})
    check_shape(archive, name, *tensor, {count});
  check_shape(archive, "mean", p.mean, {features});
  check_shape(archive, "forward", p.forward, {count, features});
  check_shape(archive, "forward_bias", p.forward_bias, {count});
  check_shape(archive, "backward", p.backward, {count, features});
}

void archive_sgd_state(Archive& archive, const std::string& name, int64_t features,
                       SgdState& state) {
  archive(name + "w", state.w);
  archive(name + "average_w", state.average_w);
  archive(name + "l1_used", state.l1_used);
  archive(name + "b", state.b);
  archive(name + "average_b", state.average_b);
  archive(name + "l1_total", state.l1_total);
  archive(name + "t", state.t);
  archive(name + "position", state.position);
  for (const auto* values : {&state.w, &state.average_w, &state.l1_used})
    expect_fit(archive, values->empty() || size_of(*values) == features, name + "w");
}

void archive_neighbors(Archive& archive, NearestNeighbors& neighbors) {
  Tensor samples = archive.reads() ? Tensor() : neighbors.samples();
  archive("samples", samples);
  if (!archive.reads()) return;
  check_shape(archive, "samples", samples, {-1, -1});
  neighbors.fit(samples);
}

void archive_neighbor_classes(Archive& archive, NearestNeighbors& neighbors,
                              std::vector<int32_t>& classes, std::vector<int32_t>& codes) {
  archive("classes", classes);
  archive("codes", codes);
  archive_neighbors(archive, neighbors);
  check_classes(archive, classes);
  expect_fit(archive, size_of(codes) == neighbors.samples().dim(0), "codes");
  for (const int32_t code : codes)
    expect_fit(archive, code >= 0 && code < size_of(classes), "codes");
}

void archive_neighbor_targets(Archive& archive, NearestNeighbors& neighbors, Tensor& targets) {
  archive("targets", targets);
  archive_neighbors(archive, neighbors);
  check_shape(archive, "targets", targets,
              targets.defined() && targets.rank() == 2 ? Shape{neighbors.samples().dim(0), -1}
                                                       : Shape{neighbors.samples().dim(0)});
}

/// A machine with the linear kernel predicts by its linear function.
void check_linear(const Archive& archive, const KernelExpansion& expansion,
                  const LinearFunction& linear, int64_t outputs) {
  expect_fit(archive, linear.defined() == expansion.is_linear(), "linear.coefficients");
  if (!linear.defined()) return;
  check_shape(archive, "linear.coefficients",
              linear.coefficients().reshape({-1, linear.features()}),
              {outputs, expansion.support_vectors().dim(1)});
}

}  // namespace

void LinearFunction::archive(Archive& archive, const std::string& prefix) {
  archive(prefix + "coefficients", coefficients_);
  archive(prefix + "intercept", intercept_);
  if (!archive.reads() || !defined()) return;
  const bool flat = coefficients_.rank() == 1;
  check_shape(archive, "coefficients", coefficients_, flat ? Shape{-1} : Shape{-1, -1});
  check_shape(archive, "intercept", intercept_, {flat ? 1 : coefficients_.dim(0)});
}

void LinearRegression::archive(Archive& archive) { function_.archive(archive); }
void Ridge::archive(Archive& archive) { function_.archive(archive); }

void ElasticNet::archive(Archive& archive) {
  function_.archive(archive);
  archive("iterations", iterations_);
  archive("converged", converged_);
}

void LogisticRegression::archive(Archive& archive) {
  function_.archive(archive);
  archive("classes", classes_);
  archive("iterations", iterations_);
  archive("converged", converged_);
  check_classes(archive, classes_);
  expect_fit(archive,
             !function_.defined() || function_.intercept().size() == functions_of(classes_),
             "classes");
}

void OneVsRestSgd::archive(Archive& archive) {
  function_.archive(archive);
  archive("classes", learned_.classes);
  archive("class_weights", learned_.weights);
  archive("iterations", iterations_);
  check_classes(archive, learned_.classes, function_.defined() ? 2 : 0);
  if (!function_.defined()) return;
  const int64_t functions = functions_of(learned_.classes);
  expect_fit(archive, function_.intercept().size() == functions, "classes");
  expect_fit(archive, learned_.weights.size() == learned_.classes.size(), "class_weights");
  learned_.states.resize(static_cast<size_t>(functions));
  for (int64_t i = 0; i < functions; ++i)
    archive_sgd_state(archive, "function." + std::to_string(i) + ".", function_.features(),
                      learned_.states[static_cast<size_t>(i)]);
}

void SGDRegressor::archive(Archive& archive) {
  function_.archive(archive);
  archive("iterations", iterations_);
  if (function_.defined()) archive_sgd_state(archive, "", function_.features(), state_);
}

void ConfidenceClassifier::archive(Archive& archive) {
  function_.archive(archive);
  archive("classes", learned_.classes);
  archive("iterations", iterations_);
  check_classes(archive, learned_.classes, function_.defined() ? 2 : 0);
  if (!function_.defined()) return;
  const int64_t functions = functions_of(learned_.classes);
  expect_fit(archive, function_.intercept().size() == functions, "classes");
  learned_.weights.resize(static_cast<size_t>(functions));
  for (size_t i = 0; i < learned_.weights.size(); ++i) {
    const std::string name = "function." + std::to_string(i) + ".";
    Weights& weights = learned_.weights[i];
    archive(name + "mean", weights.mean);
    archive(name + "variance", weights.variance);
    archive(name + "position", weights.position);
    expect_fit(archive, size_of(weights.mean) == function_.features() + 1, name + "mean");
    expect_fit(archive, weights.variance.size() == weights.mean.size(), name + "variance");
  }
}

void GaussianNB::archive(Archive& archive) {
  archive("classes", classes_);
  archive("counts", counts_);
  archive("variances", variances_);
  archive_gaussians(archive, model_);
  check_classes(archive, classes_);
  expect_fit(archive, model_.count == size_of(classes_) && counts_.size() == classes_.size(),
             "classes");
  expect_fit(archive, variances_.size() == model_.means.size(), "variances");
  expect_fit(archive, model_.count == 0 || model_.type == CovarianceType::diag, "type");
}

void MultinomialNB::archive(Archive& archive) {
  archive("seen_features", features_);
  archive("classes", classes_);
  archive("counts", counts_);
  archive("feature_counts", feature_counts_);
  archive("log_prior", log_prior_);
  archive("log_prob", log_prob_);
  check_classes(archive, classes_);
  const int64_t classes = size_of(classes_);
  expect_fit(archive, size_of(counts_) == classes && size_of(log_prior_) == classes, "classes");
  expect_fit(archive, features_ >= 0 && features_ < int64_t{1} << 40, "seen_features");
  expect_fit(archive, size_of(feature_counts_) == classes * features_, "feature_counts");
  expect_fit(archive, log_prob_.size() == feature_counts_.size(), "log_prob");
}

void KNeighborsClassifier::archive(Archive& archive) {
  archive_neighbor_classes(archive, neighbors_, classes_, codes_);
}

void KNeighborsRegressor::archive(Archive& archive) {
  archive_neighbor_targets(archive, neighbors_, targets_);
}

void RadiusNeighborsClassifier::archive(Archive& archive) {
  archive_neighbor_classes(archive, neighbors_, classes_, codes_);
}

void RadiusNeighborsRegressor::archive(Archive& archive) {
  archive_neighbor_targets(archive, neighbors_, targets_);
}

void KMeans::archive(Archive& archive) {
  archive("centers", centers_);
  archive("inertia", inertia_);
  archive("n_iter", n_iter_);
  if (archive.reads()) check_shape(archive, "centers", centers_, {options_.n_clusters, -1});
}

void MiniBatchKMeans::archive(Archive& archive) {
  archive("centers", centers_);
  archive("counts", counts_);
  archive("inertia", inertia_);
  archive("n_steps", n_steps_);
  archive("since_reassignment", since_reassignment_);
  if (archive.reads()) check_shape(archive, "centers", centers_, {options_.n_clusters, -1});
  expect_fit(archive, size_of(counts_) == options_.n_clusters, "counts");
}

void GaussianMixture::archive(Archive& archive) {
  archive_gaussians(archive, model_);
  archive("converged", converged_);
  archive("n_iter", n_iter_);
  archive("lower_bound", lower_bound_);
  expect_fit(archive, model_.type == options_.covariance_type, "type");
}

void CCA::archive(Archive& archive) {
  archive("flat", flat_);
  archive("correlations", correlations_);
  archive("coefficients", coefficients_);
  const int64_t count = options_.n_components;
  const bool fitted = correlations_.defined();
  for (const auto& [prefix, side] : {std::pair{"x_", &x_}, std::pair{"y_", &y_}}) {
    const std::string name = prefix;
    archive(name + "weights", side->weights);
    archive(name + "loadings", side->loadings);
    archive(name + "rotations", side->rotations);
    archive(name + "mean", side->mean);
    archive(name + "scale", side->scale);
    expect_fit(archive, side->scale.size() == side->mean.size(), name + "scale");
    expect_fit(archive, side->rotations.defined() == fitted, name + "rotations");
    if (!archive.reads() || !fitted) continue;
    expect_fit(archive, !side->mean.empty(), name + "mean");
    const Shape shape{size_of(side->mean), count};
    check_shape(archive, name + "weights", side->weights, shape);
    check_shape(archive, name + "loadings", side->loadings, shape);
    check_shape(archive, name + "rotations", side->rotations, shape);
  }
  if (!archive.reads() || !fitted) return;
  expect_fit(archive, !flat_ || size_of(y_.mean) == 1, "flat");
  check_shape(archive, "correlations", correlations_, {count});
  check_shape(archive, "coefficients", coefficients_, {size_of(y_.mean), count});
}

void PCA::archive(Archive& archive) { archive_projection(archive, projection_); }

void IncrementalPCA::archive(Archive& archive) {
  archive_projection(archive, projection_);
  archive("axes", axes_.axes);
  archive("squares", axes_.squares);
  archive("total_mean", mean_);
  archive("total", total_);
  archive("seen", seen_);
  expect_fit(archive, axes_.axes.size() == axes_.squares.size() * mean_.size(), "axes");
  expect_fit(archive, !projection_.defined() || size_of(mean_) == projection_.components.dim(1),
             "total_mean");
}

void StandardScaler::archive(Archive& archive) {
  archive("count", moments_.count);
  archive("mean", moments_.mean);
  archive("squares", moments_.squares);
  expect_fit(archive, moments_.mean.size() == moments_.squares.size(), "squares");
}

void MinMaxScaler::archive(Archive& archive) {
  archive("count", count_);
  archive("min", min_);
  archive("max", max_);
  expect_fit(archive, min_.size() == max_.size(), "max");
}

void SVC::archive(Archive& archive) {
  expansion_.archive(archive);
  linear_.archive(archive, "linear.");
  archive("classes", classes_);
  archive("support", support_);
  std::vector<int32_t> counts(n_support_.begin(), n_support_.end());
  archive("n_support", counts);
  n_support_.assign(counts.begin(), counts.end());
  archive("dual", dual_);
  archive("intercept", intercept_);
  archive("iterations", iterations_);
  archive("converged", converged_);
  check_classes(archive, classes_);
  if (!archive.reads() || !expansion_.defined()) return;
  const int64_t classes = size_of(classes_), vectors = expansion_.support_vectors().dim(0);
  expect_fit(archive, classes >= 2, "classes");
  check_linear(archive, expansion_, linear_, classes * (classes - 1) / 2);
  check_shape(archive, "dual", dual_, {classes - 1, vectors});
  check_shape(archive, "intercept", intercept_, {classes * (classes - 1) / 2});
  expect_fit(archive, size_of(support_) == vectors, "support");
  expect_fit(archive,
             size_of(n_support_) == classes &&
                 std::ranges::all_of(n_support_, [](int64_t n) { return n >= 0; }) &&
                 std::accumulate(n_support_.begin(), n_support_.end(), int64_t{0}) == vectors,
             "n_support");
}

void SVR::archive(Archive& archive) {
  expansion_.archive(archive);
  linear_.archive(archive, "linear.");
  archive("support", support_);
  archive("dual", dual_);
  archive("intercept", intercept_);
  archive("iterations", iterations_);
  archive("converged", converged_);
  if (!archive.reads() || !expansion_.defined()) return;
  check_linear(archive, expansion_, linear_, 1);
  check_shape(archive, "dual", dual_, {1, expansion_.support_vectors().dim(0)});
  check_shape(archive, "intercept", intercept_, {1});
}

void KernelExpansion::archive(Archive& archive) {
  archive("kernel", function_.kind, {"linear", "poly", "rbf"});
  archive("gamma", function_.gamma);
  archive("coef0", function_.coef0);
  archive("degree", function_.degree);
  archive("shift", function_.shift);
  archive("support_vectors", support_vectors_);
  if (!archive.reads() || !defined()) return;
  expect_fit(archive, function_.gamma > 0 || is_linear(), "gamma");
  expect_fit(archive, function_.degree >= 0 && function_.degree <= 1000, "degree");
  check_shape(archive, "support_vectors", support_vectors_, {-1, -1});
  expect_fit(archive,
             function_.shift.empty() || size_of(function_.shift) == support_vectors_.dim(1),
             "shift");
}

void DecisionTreeClassifier::archive(Archive& archive) {
  archive("classes", classes_);
  check_classes(archive, classes_);
  std::vector<Tree> trees{tree_};
  archive_trees(archive, trees, 1, size_of(classes_));
  tree_ = std::move(trees[0]);
}

void DecisionTreeRegressor::archive(Archive& archive) {
  archive("one_output", one_output_);
  std::vector<Tree> trees{tree_};
  archive_trees(archive, trees, 1, one_output_ ? std::optional<int64_t>(1) : std::nullopt);
  tree_ = std::move(trees[0]);
}

void RandomForestClassifier::archive(Archive& archive) {
  archive("classes", classes_);
  check_classes(archive, classes_);
  archive_trees(archive, trees_, options_.n_estimators, size_of(classes_));
}

void RandomForestRegressor::archive(Archive& archive) {
  archive("one_output", one_output_);
  archive_trees(archive, trees_, options_.n_estimators,
                one_output_ ? std::optional<int64_t>(1) : std::nullopt);
}

}  // namespace kaiseki::ml
