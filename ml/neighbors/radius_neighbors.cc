// SPDX-License-Identifier: MIT
#include "ml/neighbors/radius_neighbors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "matrix/ops/copy.h"
#include "ml/metrics/classification.h"
#include "ml/metrics/regression.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr std::string_view kClassifier = "RadiusNeighborsClassifier";
constexpr std::string_view kRegressor = "RadiusNeighborsRegressor";

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

[[noreturn]] void throw_outlier(std::string_view name, double radius, int64_t query,
                                std::string_view advice) {
  throw Error(message(name, "expected a sample within the radius of ", radius, " around query ",
                      query, ", got none (", advice, ")"));
}

/// Queries of a block. A query may have all samples as neighbors.
constexpr int64_t kQueries = 1024;

/// Calls body(neighbors, begin) for consecutive blocks of queries.
template <class Body>
void for_blocks(const NearestNeighbors& neighbors, const Tensor& x, NeighborWeights weights,
                const Body& body) {
  const Tensor queries = on_host(x);
  for (int64_t begin = 0; begin < x.dim(0); begin += kQueries) {
    const Tensor rows = queries.slice(0, begin, std::min(kQueries, x.dim(0) - begin));
    body(weighted(neighbors, rows, weights), begin);
  }
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
  neighbors_.fit(on_host(x));  // searches by radius run on the CPU
  classes_ = std::move(labels.classes);
  codes_ = std::move(labels.codes);
}

template <class Body>
void RadiusNeighborsClassifier::for_votes(const Tensor& x, const Body& body) const {
  check_fitted(!classes_.empty(), kClassifier);
  check_samples(x, neighbors_.samples().dim(1), kClassifier);
  for_blocks(neighbors_, x, options_.weights, [&](const WeightedNeighbors& found, int64_t begin) {
    const auto count = static_cast<int64_t>(classes_.size());
    std::vector<bool> outliers;
    for (int64_t query = 0; query < found.queries(); ++query) {
      outliers.push_back(is_outlier(found, query));
      if (outliers.back() && !options_.outlier_label)
        throw_outlier(kClassifier, options_.radius, begin + query,
                      "increase radius, or set outlier_label");
    }
    body(class_votes(found, codes_, count), outliers);
  });
}

Tensor RadiusNeighborsClassifier::predict(const Tensor& x) const {
  std::vector<int32_t> labels;
  for_votes(x, [&](const std::vector<double>& votes, const std::vector<bool>& outliers) {
    const std::vector<int32_t> winners = most_voted(votes, static_cast<int64_t>(classes_.size()));
    for (size_t i = 0; i < winners.size(); ++i)
      labels.push_back(outliers[i] ? static_cast<int32_t>(*options_.outlier_label)
                                   : classes_[winners[i]]);
  });
  return Tensor::from(std::span<const int32_t>(labels), {x.dim(0)}, x.device());
}

Tensor RadiusNeighborsClassifier::predict_proba(const Tensor& x) const {
  const auto count = static_cast<int64_t>(classes_.size());
  const auto label = std::ranges::find(classes_, options_.outlier_label.value_or(0));
  std::vector<double> all;
  for_votes(x, [&](const std::vector<double>& votes, const std::vector<bool>& outliers) {
    const auto begin = static_cast<int64_t>(all.size());
    all.insert(all.end(), votes.begin(), votes.end());
    for (size_t i = 0; i < outliers.size(); ++i)
      if (outliers[i] && label != classes_.end())
        all[begin + static_cast<int64_t>(i) * count + (label - classes_.begin())] = 1;
  });
  return tensor_from(all, {x.dim(0), count}, x.device());
}

double RadiusNeighborsClassifier::score(const Tensor& x, const Tensor& y) const {
  return accuracy_score(y, predict(x));
}

const std::vector<int32_t>& RadiusNeighborsClassifier::classes() const {
  check_fitted(!classes_.empty(), kClassifier);
  return classes_;
}

RadiusNeighborsRegressor::RadiusNeighborsRegressor(RadiusNeighborsOptions options)
    : options_(options), neighbors_(search_options(options)) {}

void RadiusNeighborsRegressor::fit(const Tensor& x, const Tensor& y) {
  constexpr std::string_view kName = "RadiusNeighborsRegressor::fit";
  check_samples(x, kName);
  check_targets(y, x, kName);
  neighbors_.fit(on_host(x));  // searches by radius run on the CPU
  targets_ = on_host(y);
}

Tensor RadiusNeighborsRegressor::predict(const Tensor& x) const {
  check_fitted(targets_.defined(), kRegressor);
  check_samples(x, neighbors_.samples().dim(1), kRegressor);
  std::vector<Tensor> blocks;
  for_blocks(neighbors_, x, options_.weights, [&](const WeightedNeighbors& found, int64_t) {
    blocks.push_back(mean_targets(found, targets_, x.device()));
  });
  return concatenate(blocks, 0);
}

double RadiusNeighborsRegressor::score(const Tensor& x, const Tensor& y) const {
  const Tensor means = predict(x);
  const std::vector<float> values = means.to_vector<float>();
  const int64_t outputs = means.size() / means.dim(0);
  for (size_t i = 0; i < values.size(); ++i)
    if (std::isnan(values[i]))
      throw_outlier(kRegressor, options_.radius, static_cast<int64_t>(i) / outputs,
                    "increase radius");
  return r2_score(y, means);
}

}  // namespace kaiseki::ml
