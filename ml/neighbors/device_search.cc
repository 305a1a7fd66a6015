// SPDX-License-Identifier: MIT
#include "ml/neighbors/device_search.h"

#include <algorithm>
#include <cmath>

#include "matrix/ops/cluster.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/index.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/sort.h"

namespace kaiseki::ml {
namespace {

constexpr int64_t kQueries = 512, kSamples = 4096;  // of a product
constexpr int64_t kMoreCandidates = 8;
// The squared mean, by the variance. A product loses about as many digits as this ratio has.
constexpr double kFarMean = 10;

}  // namespace

DeviceSearch::DeviceSearch(const Tensor& samples, const std::vector<float>& mean,
                           double total_variance)
    : samples_(samples), centered_(samples) {
  double squared_mean = 0;
  for (const float value : mean) squared_mean += static_cast<double>(value) * value;
  const bool far = squared_mean > kFarMean * total_variance;
  const std::vector<float> origin = far ? mean : std::vector<float>(mean.size());
  origin_ = Tensor::from(std::span<const float>(origin), {1, samples.dim(1)}, samples.device());
  if (far) centered_ = samples - origin_;
  norms_ = squared_distances(samples, origin_).reshape({samples.dim(0)});
}

/// i32 [q, count]: the samples that are nearest by products of matrices.
Tensor DeviceSearch::candidates_of(const Tensor& queries, int64_t count) const {
  const Tensor rows = queries - origin_;
  std::vector<Tensor> values, indices;
  for (int64_t begin = 0; begin < centered_.dim(0); begin += kSamples) {
    const int64_t chunk = std::min(kSamples, centered_.dim(0) - begin);
    const Tensor norms = norms_.slice(0, begin, chunk);
    Tensor partial({rows.dim(0), chunk}, DType::f32, rows.device());
    gemm(rows, centered_.slice(0, begin, chunk), partial,
         {.transpose_b = true, .alpha = -2, .bias_per_column = &norms});
    const TopK found = topk(partial, std::min(count, chunk), -1, false);
    values.push_back(found.values);
    indices.push_back(
        elementwise("i + begin", {{"i", found.indices}, {"begin", static_cast<int32_t>(begin)}}));
  }
  if (values.size() == 1) return indices[0];
  const TopK best = topk(concatenate(values, 1), count, -1, false);
  return gather(concatenate(indices, 1), best.indices, 1);
}

std::vector<std::vector<FoundNeighbor>> DeviceSearch::nearest(const Tensor& queries, int64_t most,
                                                              bool same) const {
  const int64_t features = samples_.dim(1);
  const int64_t count = std::min(most + kMoreCandidates + (same ? 1 : 0), samples_.dim(0));
  std::vector<std::vector<FoundNeighbor>> result;
  for (int64_t begin = 0; begin < queries.dim(0); begin += kQueries) {
    const Tensor block = queries.slice(0, begin, std::min(kQueries, queries.dim(0) - begin));
    const int64_t rows = block.dim(0);
    const Tensor candidates = candidates_of(block, count);
    const Tensor differences =
        take(samples_, candidates, 0) - block.contiguous().reshape({rows, 1, features});
    const std::vector<float> squares =
        reduce(Reduction::sum_of_squares, differences, {2}).to_vector();
    const std::vector<int32_t> indices = candidates.to_vector<int32_t>();
    for (int64_t i = 0; i < rows; ++i) {
      std::vector<FoundNeighbor> list;
      for (int64_t j = i * count; j < (i + 1) * count; ++j)
        if (!same || indices[j] != begin + i) list.push_back({squares[j], indices[j]});
      std::sort(list.begin(), list.end());
      list.resize(static_cast<size_t>(most));
      result.push_back(std::move(list));
    }
  }
  return result;
}

}  // namespace kaiseki::ml
