// SPDX-License-Identifier: MIT
#include "ml/neighbors/kneighbors.h"

#include <algorithm>
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

struct WeightedNeighbors {
  std::vector<int32_t> indices;  // [q * n_neighbors]
  std::vector<double> weights;   // their sum for each query is 1
};

WeightedNeighbors weighted(const NearestNeighbors& neighbors, const Tensor& x,
                           const KNeighborsOptions& options) {
  const Neighbors found = neighbors.kneighbors(x);
  WeightedNeighbors result{found.indices.to_vector<int32_t>(), {}};
  const int64_t count = options.n_neighbors;
  result.weights.assign(result.indices.size(), 1.0 / static_cast<double>(count));
  if (options.weights == NeighborWeights::uniform) return result;
  const std::vector<float> distances = found.distances.to_vector<float>();
  for (size_t first = 0; first < distances.size(); first += static_cast<size_t>(count)) {
    const bool exact = distances[first] == 0;
    double sum = 0;
    for (size_t i = first; i < first + static_cast<size_t>(count); ++i) {
      const double distance = static_cast<double>(distances[i]);
      result.weights[i] = exact ? (distance == 0 ? 1 : 0) : 1 / distance;
      sum += result.weights[i];
    }
    for (size_t i = first; i < first + static_cast<size_t>(count); ++i) result.weights[i] /= sum;
  }
  return result;
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
  const WeightedNeighbors neighbors = weighted(neighbors_, x, options_);
  std::vector<double> sums(static_cast<size_t>(x.dim(0) * count));
  for (size_t i = 0; i < neighbors.indices.size(); ++i) {
    const auto query = static_cast<int64_t>(i) / options_.n_neighbors;
    sums[query * count + codes_[neighbors.indices[i]]] += neighbors.weights[i];
  }
  return sums;
}

Tensor KNeighborsClassifier::predict(const Tensor& x) const {
  const std::vector<double> sums = votes(x);
  const auto count = static_cast<int64_t>(classes_.size());
  std::vector<int32_t> codes;
  for (int64_t i = 0; i < x.dim(0); ++i) {
    const auto row = sums.begin() + i * count;
    int64_t best = 0;
    // Equal sums of weights may differ by their rounding.
    for (int64_t c = 1; c < count; ++c)
      if (row[c] > row[best] * (1 + 1e-12)) best = c;
    codes.push_back(static_cast<int32_t>(best));
  }
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
  const WeightedNeighbors neighbors = weighted(neighbors_, x, options_);
  const int64_t outputs = targets_.rank() == 1 ? 1 : targets_.dim(1);
  const float* targets = targets_.data<float>();
  std::vector<double> means(static_cast<size_t>(x.dim(0) * outputs));
  for (size_t i = 0; i < neighbors.indices.size(); ++i) {
    const auto query = static_cast<int64_t>(i) / options_.n_neighbors;
    const float* target = targets + neighbors.indices[i] * outputs;
    for (int64_t j = 0; j < outputs; ++j)
      means[query * outputs + j] += neighbors.weights[i] * static_cast<double>(target[j]);
  }
  return tensor_from(means, targets_.rank() == 1 ? Shape{x.dim(0)} : Shape{x.dim(0), outputs},
                     x.device());
}

double KNeighborsRegressor::score(const Tensor& x, const Tensor& y) const {
  return r2_score(y, predict(x));
}

}  // namespace kaiseki::ml
