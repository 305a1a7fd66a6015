// SPDX-License-Identifier: MIT
#include "ml/neighbors/radius_neighbors.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "ml/metrics/classification.h"
#include "ml/metrics/regression.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

NearestNeighborsOptions search_options(const RadiusNeighborsOptions& options) {
  return {.radius = options.radius, .algorithm = options.algorithm, .leaf_size = options.leaf_size};
}

WeightedNeighbors weighted(const NearestNeighbors& neighbors, const Tensor& x,
                           NeighborWeights weights) {
  const RadiusNeighbors found = neighbors.radius_neighbors(x);
  return weigh_neighbors(found.starts.to_vector<int32_t>(), found.distances, found.indices,
                         weights);
}

bool is_outlier(const WeightedNeighbors& neighbors, int64_t query) {
  return neighbors.starts[query] == neighbors.starts[query + 1];
}

}  // namespace

RadiusNeighborsClassifier::RadiusNeighborsClassifier(RadiusNeighborsClassifierOptions options)
    : options_(options), neighbors_(search_options(options)) {
  if (options.outlier_label && !std::in_range<int32_t>(*options.outlier_label))
    throw Error(message("RadiusNeighborsClassifier", "expected an outlier_label of 32 bits, got ",
                        *options.outlier_label));
}

void RadiusNeighborsClassifier::fit(const Tensor& x, const Tensor& y) {
  constexpr std::string_view kName = "RadiusNeighborsClassifier::fit";
  check_samples(x, kName);
  LabelCodes labels = encode_labels(read_labels(y, x.dim(0), kName));
  neighbors_.fit(x);
  classes_ = std::move(labels.classes);
  codes_ = std::move(labels.codes);
}

WeightedNeighbors RadiusNeighborsClassifier::find(const Tensor& x) const {
  check_fitted(!classes_.empty(), "RadiusNeighborsClassifier");
  WeightedNeighbors neighbors = weighted(neighbors_, x, options_.weights);
  if (!options_.outlier_label)
    for (int64_t query = 0; query < neighbors.queries(); ++query)
      if (is_outlier(neighbors, query))
        throw Error(message("RadiusNeighborsClassifier", "expected a sample within the radius of ",
                            options_.radius, " around query ", query,
                            ", got none (increase radius, or set outlier_label)"));
  return neighbors;
}

Tensor RadiusNeighborsClassifier::predict(const Tensor& x) const {
  const WeightedNeighbors neighbors = find(x);
  const auto count = static_cast<int64_t>(classes_.size());
  const std::vector<int32_t> winners = most_voted(class_votes(neighbors, codes_, count), count);
  std::vector<int32_t> labels;
  for (int64_t query = 0; query < neighbors.queries(); ++query)
    labels.push_back(is_outlier(neighbors, query) ? static_cast<int32_t>(*options_.outlier_label)
                                                  : classes_[winners[query]]);
  return Tensor::from(std::span<const int32_t>(labels), {neighbors.queries()}, x.device());
}

Tensor RadiusNeighborsClassifier::predict_proba(const Tensor& x) const {
  const WeightedNeighbors neighbors = find(x);
  const auto count = static_cast<int64_t>(classes_.size());
  std::vector<double> votes = class_votes(neighbors, codes_, count);
  const auto label = std::ranges::find(classes_, options_.outlier_label.value_or(0));
  for (int64_t query = 0; query < neighbors.queries(); ++query)
    if (is_outlier(neighbors, query) && label != classes_.end())
      votes[query * count + (label - classes_.begin())] = 1;
  return tensor_from(votes, {neighbors.queries(), count}, x.device());
}

double RadiusNeighborsClassifier::score(const Tensor& x, const Tensor& y) const {
  return accuracy_score(y, predict(x));
}

const std::vector<int32_t>& RadiusNeighborsClassifier::classes() const {
  check_fitted(!classes_.empty(), "RadiusNeighborsClassifier");
  return classes_;
}

RadiusNeighborsRegressor::RadiusNeighborsRegressor(RadiusNeighborsOptions options)
    : options_(options), neighbors_(search_options(options)) {}

void RadiusNeighborsRegressor::fit(const Tensor& x, const Tensor& y) {
  constexpr std::string_view kName = "RadiusNeighborsRegressor::fit";
  check_samples(x, kName);
  check_targets(y, x, kName);
  neighbors_.fit(x);
  targets_ = on_host(y);
}

Tensor RadiusNeighborsRegressor::predict(const Tensor& x) const {
  check_fitted(targets_.defined(), "RadiusNeighborsRegressor");
  return mean_targets(weighted(neighbors_, x, options_.weights), targets_, x.device());
}

double RadiusNeighborsRegressor::score(const Tensor& x, const Tensor& y) const {
  return r2_score(y, predict(x));
}

}  // namespace kaiseki::ml
