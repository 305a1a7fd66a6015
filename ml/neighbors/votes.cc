// SPDX-License-Identifier: MIT
#include "ml/neighbors/votes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ml/samples.h"

namespace kaiseki::ml {

WeightedNeighbors weigh_neighbors(std::vector<int32_t> starts, const Tensor& distances,
                                  const Tensor& indices, NeighborWeights weights) {
  WeightedNeighbors result{std::move(starts), indices.to_vector<int32_t>(), {}};
  const std::vector<float> lengths = distances.to_vector<float>();
  result.weights.reserve(lengths.size());
  for (int64_t query = 0; query < result.queries(); ++query) {
    const auto first = static_cast<size_t>(result.starts[query]);
    const auto end = static_cast<size_t>(result.starts[query + 1]);
    const bool exact = first < end && lengths[first] == 0;  // they are ordered by distance
    double sum = 0;
    for (size_t i = first; i < end; ++i) {
      const auto distance = static_cast<double>(lengths[i]);
      double weight = 1;
      if (weights == NeighborWeights::distance)
        weight = exact ? (distance == 0 ? 1 : 0) : 1 / distance;
      result.weights.push_back(weight);
      sum += weight;
    }
    for (size_t i = first; i < end; ++i) result.weights[i] /= sum;
  }
  return result;
}

std::vector<double> class_votes(const WeightedNeighbors& neighbors,
                                const std::vector<int32_t>& codes, int64_t classes) {
  std::vector<double> votes(static_cast<size_t>(neighbors.queries() * classes));
  for (int64_t query = 0; query < neighbors.queries(); ++query)
    for (int64_t i = neighbors.starts[query]; i < neighbors.starts[query + 1]; ++i)
      votes[query * classes + codes[neighbors.indices[i]]] += neighbors.weights[i];
  return votes;
}

std::vector<int32_t> most_voted(const std::vector<double>& votes, int64_t classes) {
  std::vector<int32_t> codes;
  for (auto row = votes.begin(); row != votes.end(); row += classes) {
    int64_t best = 0;
    // Equal sums of weights may differ by their rounding.
    for (int64_t c = 1; c < classes; ++c)
      if (row[c] > row[best] * (1 + 1e-12)) best = c;
    codes.push_back(static_cast<int32_t>(best));
  }
  return codes;
}

Tensor mean_targets(const WeightedNeighbors& neighbors, const Tensor& targets, Device device) {
  const int64_t outputs = targets.rank() == 1 ? 1 : targets.dim(1), queries = neighbors.queries();
  const float* values = targets.data<float>();
  std::vector<double> means(static_cast<size_t>(queries * outputs));
  for (int64_t query = 0; query < queries; ++query) {
    double* mean = means.data() + query * outputs;
    if (neighbors.starts[query] == neighbors.starts[query + 1])
      std::fill_n(mean, outputs, std::nan(""));
    for (int64_t i = neighbors.starts[query]; i < neighbors.starts[query + 1]; ++i)
      for (int64_t j = 0; j < outputs; ++j)
        mean[j] +=
            neighbors.weights[i] * static_cast<double>(values[neighbors.indices[i] * outputs + j]);
  }
  return tensor_from(means, targets.rank() == 1 ? Shape{queries} : Shape{queries, outputs}, device);
}

}  // namespace kaiseki::ml
