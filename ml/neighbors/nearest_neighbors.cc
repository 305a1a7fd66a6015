// SPDX-License-Identifier: MIT
#include "ml/neighbors/nearest_neighbors.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "matrix/ops/reduce.h"
#include "matrix/threads.h"
#include "ml/cluster/device_rows.h"
#include "ml/draw.h"
#include "ml/moments.h"
#include "ml/neighbors/brute_search.h"
#include "ml/neighbors/device_search.h"
#include "ml/neighbors/kd_tree.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr std::string_view kName = "NearestNeighbors";
constexpr int64_t kTreeFeatures = 20, kTreeSamples = 256;
constexpr int64_t kQueriesPerPiece = 64;

using FoundLists = std::vector<std::vector<FoundNeighbor>>;

template <class Search>
FoundLists search_tree(const Tensor& queries, const Search& search) {
  FoundLists result(static_cast<size_t>(queries.dim(0)));
  const float* rows = queries.data<float>();
  parallel_for(queries.dim(0), kQueriesPerPiece, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      result[i] = search(rows + i * queries.dim(1), static_cast<int32_t>(i));
  });
  return result;
}

Neighbors as_matrices(const FoundLists& lists, int64_t count, Device device) {
  std::vector<float> distances;
  std::vector<int32_t> indices;
  for (const auto& list : lists)
    for (const FoundNeighbor& found : list) {
      distances.push_back(std::sqrt(found.squared));
      indices.push_back(found.index);
    }
  const Shape shape{static_cast<int64_t>(lists.size()), count};
  return {Tensor::from(std::span<const float>(distances), shape, device),
          Tensor::from(std::span<const int32_t>(indices), shape, device)};
}

RadiusNeighbors as_lists(const FoundLists& lists, Device device) {
  std::vector<float> distances;
  std::vector<int32_t> indices, starts = {0};
  for (const auto& list : lists) {
    for (const FoundNeighbor& found : list) {
      distances.push_back(std::sqrt(found.squared));
      indices.push_back(found.index);
    }
    require(indices.size() < size_t{1} << 31, kName,
            "expected fewer than 2^31 neighbors in all; use a smaller radius");
    starts.push_back(static_cast<int32_t>(indices.size()));
  }
  const Shape shape{static_cast<int64_t>(indices.size())};
  return {Tensor::from(std::span<const float>(distances), shape, device),
          tensor_from(indices, device), tensor_from(starts, device)};
}

void check_radius(double radius) {
  if (!(radius >= 0)) throw Error(message(kName, "expected a radius of 0 or more, got ", radius));
}

}  // namespace

NearestNeighbors::NearestNeighbors(NearestNeighborsOptions options) : options_(options) {
  check_at_least(options_.n_neighbors, 1, "n_neighbors", kName);
  check_at_least(options_.leaf_size, 1, "leaf_size", kName);
  check_radius(options_.radius);
}

void NearestNeighbors::fit(const Tensor& x) {
  check_samples(x, "NearestNeighbors::fit");
  require(x.dim(0) < int64_t{1} << 31, kName, "expected fewer than 2^31 samples, got ", x.dim(0));
  device_ = x.device();
  const bool suits = x.dim(1) < kTreeFeatures && x.dim(0) >= kTreeSamples;
  const bool tree = options_.algorithm == NeighborsAlgorithm::kd_tree ||
                    (options_.algorithm == NeighborsAlgorithm::automatic && suits);
  samples_ = tree ? on_host(x) : x.contiguous();
  tree_ = tree ? std::make_shared<KdTree>(samples_.data<float>(), x.dim(0), x.dim(1),
                                          options_.leaf_size)
               : nullptr;
  device_search_ = nullptr;
  if (samples_.device().is_cpu()) {
    const std::vector<double> means = column_means(samples_);
    mean_.assign(means.begin(), means.end());
  } else {
    mean_ = mean(samples_, {0}).to_vector();
    const double variance =
        DeviceRows(samples_).mean_variance() * static_cast<double>(samples_.dim(1));
    device_search_ = std::make_shared<DeviceSearch>(samples_, mean_, variance);
  }
}

NearestNeighbors::Lists NearestNeighbors::nearest(const Tensor& queries, int64_t count,
                                                  bool same) const {
  const int64_t available = samples().dim(0) - (same ? 1 : 0);
  check_at_least(count, 1, "n_neighbors", kName);
  require(count <= available, kName, "expected n_neighbors of at most ", available, " for ",
          samples_.dim(0), " samples, got ", count);
  if (device_search_) return device_search_->nearest(queries.to(device_), count, same);
  const Tensor there = on_host(queries);
  if (!tree_) return brute_nearest({samples_, there, mean_, same}, count);
  return search_tree(there, [&](const float* query, int32_t i) {
    return tree_->nearest(query, count, same ? std::optional(i) : std::nullopt);
  });
}

NearestNeighbors::Lists NearestNeighbors::within(const Tensor& queries, double radius,
                                                 bool same) const {
  check_radius(radius);
  const auto squared = static_cast<float>(radius * radius);
  const Tensor samples = on_host(samples_), there = on_host(queries);
  if (!tree_) return brute_within({samples, there, mean_, same}, squared);
  return search_tree(there, [&](const float* query, int32_t i) {
    return tree_->within(query, squared, same ? std::optional(i) : std::nullopt);
  });
}

Neighbors NearestNeighbors::kneighbors(const Tensor& x, std::optional<int64_t> n_neighbors) const {
  check_samples(x, samples().dim(1), "NearestNeighbors::kneighbors");
  const int64_t count = n_neighbors.value_or(options_.n_neighbors);
  return as_matrices(nearest(x, count, false), count, x.device());
}

Neighbors NearestNeighbors::kneighbors_of_samples(std::optional<int64_t> n_neighbors) const {
  const int64_t count = n_neighbors.value_or(options_.n_neighbors);
  return as_matrices(nearest(samples(), count, true), count, device_);
}

RadiusNeighbors NearestNeighbors::radius_neighbors(const Tensor& x,
                                                   std::optional<double> radius) const {
  check_samples(x, samples().dim(1), "NearestNeighbors::radius_neighbors");
  return as_lists(within(x, radius.value_or(options_.radius), false), x.device());
}

RadiusNeighbors NearestNeighbors::radius_neighbors_of_samples(std::optional<double> radius) const {
  return as_lists(within(samples(), radius.value_or(options_.radius), true), device_);
}

const Tensor& NearestNeighbors::samples() const {
  check_fitted(samples_.defined(), kName);
  return samples_;
}

}  // namespace kaiseki::ml
