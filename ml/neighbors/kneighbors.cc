// SPDX-License-Identifier: MIT
#include "ml/neighbors/kneighbors.h"

#include <utility>

#include "ml/metrics/classification.h"
#include "ml/metrics/regression.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

NearestNeighborsOptions search_options(const KNeighborsOptions& options) {
  return {.n_neighbors = options.n_neighbors,
          .algorithm = options.algorithm,
          .leaf_size = options.leaf_size};
}

WeightedNeighbors weighted(const NearestNeighbors& neighbors, const Tensor& x,
                           const KNeighborsOptions& options) {
  const Neighbors found = neighbors.kneighbors(x);
  std::vector<int32_t> starts;
  for (int64_t i = 0; i <= found.indices.dim(0); ++i)
    starts.push_back(static_cast<int32_t>(i * options.n_neighbors));
  return weigh_neighbors(std::move(starts), found.distances, found.indices, options.weights);
}

}  // namespace

KNeighborsClassifier::KNeighborsClassifier(KNeighborsOptions options)
    : options_(options), neighbors_(search_options(options)) {}

void KNeighborsClassifier::fit(const Tensor& x, const Tensor& y) {
  constexpr std::string_view kName = "KNeighborsClassifier::fit";
  check_samples(x, kName);
  LabelCodes labels = encode_labels(read_labels(y, x.dim(0), kName));
  neighbors_.fit(x);
  classes_ = std::move(labels.classes);
  codes_ = std::move(labels.codes);
}

std::vector<double> KNeighborsClassifier::votes(const Tensor& x) const {
  const auto count = static_cast<int64_t>(classes().size());
  return class_votes(weighted(neighbors_, x, options_), codes_, count);
}

Tensor KNeighborsClassifier::predict(const Tensor& x) const {
  const std::vector<int32_t> codes = most_voted(votes(x), static_cast<int64_t>(classes().size()));
  return decode_labels(codes, classes_, x.device());
}

Tensor KNeighborsClassifier::predict_proba(const Tensor& x) const {
  const std::vector<double> sums = votes(x);
  return tensor_from(sums, {x.dim(0), static_cast<int64_t>(classes_.size())}, x.device());
}

double KNeighborsClassifier::score(const Tensor& x, const Tensor& y) const {
  return accuracy_score(y, predict(x));
}

const std::vector<int32_t>& KNeighborsClassifier::classes() const {
  check_fitted(!classes_.empty(), "KNeighborsClassifier");
  return classes_;
}

KNeighborsRegressor::KNeighborsRegressor(KNeighborsOptions options)
    : options_(options), neighbors_(search_options(options)) {}

void KNeighborsRegressor::fit(const Tensor& x, const Tensor& y) {
  constexpr std::string_view kName = "KNeighborsRegressor::fit";
  check_samples(x, kName);
  check_targets(y, x, kName);
  neighbors_.fit(x);
  targets_ = on_host(y);
}

Tensor KNeighborsRegressor::predict(const Tensor& x) const {
  check_fitted(targets_.defined(), "KNeighborsRegressor");
  return mean_targets(weighted(neighbors_, x, options_), targets_, x.device());
}

double KNeighborsRegressor::score(const Tensor& x, const Tensor& y) const {
  return r2_score(y, predict(x));
}

}  // namespace kaiseki::ml
