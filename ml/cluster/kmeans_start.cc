// SPDX-License-Identifier: MIT
#include "ml/cluster/kmeans_start.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "matrix/ceil_div.h"
#include "matrix/ops/cluster.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"
#include "ml/draw.h"

namespace kaiseki::ml {
namespace {

/// The block in which the running sum of `sums` passes `target`. Subtracts the sums before it.
size_t skip_sums(const std::vector<double>& sums, double& target) {
  size_t block = 0;
  while (block + 1 < sums.size() && target >= sums[block]) target -= sums[block++];
  return block;
}

/// The position at which the running sum of distances passes `target`. It is never one of 0.
int64_t position_of_sum(std::span<const float> distances, double target) {
  auto last = static_cast<int64_t>(distances.size()) - 1;
  for (size_t i = 0; i < distances.size(); ++i) {
    if (distances[i] == 0) continue;
    last = static_cast<int64_t>(i);
    if (target < distances[i]) break;
    target -= distances[i];
  }
  return last;
}

/// The squared distance of each sample from its nearest center, with a sum for each block.
struct Potential {
  std::vector<float> distances;
  std::vector<double> block_sums;
  double total = 0;

  explicit Potential(int64_t count)
      : distances(static_cast<size_t>(count), std::numeric_limits<float>::infinity()),
        block_sums(static_cast<size_t>(ceil_div(count, kRowsPerProduct))) {}
};

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

class HostPotential {
 public:
  HostPotential(const CenteredRows& x, int64_t trials)
      : x_(x), current_(x.count()), next_(static_cast<size_t>(trials), Potential(x.count())) {}

  double total() const { return current_.total; }
  int64_t at(double target) const {
    const size_t block = skip_sums(current_.block_sums, target);
    const int64_t begin = static_cast<int64_t>(block) * kRowsPerProduct;
    const int64_t rows = std::min(kRowsPerProduct, x_.count() - begin);
    return begin +
           position_of_sum({current_.distances.data() + begin, static_cast<size_t>(rows)}, target);
  }
  int64_t improve(const Centers& candidates);

 private:
  const CenteredRows& x_;
  Potential current_;
  std::vector<Potential> next_;
};

int64_t HostPotential::improve(const Centers& candidates) {
  const int64_t trials = candidates.count;
  for_each_centered_block(x_, [&](const float* rows, int64_t begin, int64_t count) {
    float* partial = block_scratch(BlockScratch::products, count * trials);
    partial_distances(rows, count, candidates, partial);
    for (int64_t t = 0; t < trials; ++t) {
      double sum = 0;
      for (int64_t i = 0; i < count; ++i) {
        const float norm = x_.squared_norm(begin + i);
        float distance = partial[i * trials + t] + norm;
        // A small difference of large numbers is computed directly. For equal samples it is 0.
        if (distance < 100 * distance_slack(norm, candidates.norms[t]))
          distance = squared_distance(rows + i * x_.features(), candidates.row(t), x_.features());
        distance = std::min(distance, current_.distances[begin + i]);
        next_[t].distances[begin + i] = distance;
        sum += distance;
      }
      next_[t].block_sums[begin / kRowsPerProduct] = sum;
    }
  });
  int64_t best = 0;
  for (int64_t t = 0; t < trials; ++t) {
    next_[t].total = sum_of(next_[t].block_sums);
    if (next_[t].total < next_[best].total) best = t;
  }
  std::swap(current_, next_[best]);
  return best;
}

/// The same on a device. Sums of blocks come to the host, and the distances of one block for each
/// drawn sample.
class DevicePotential {
 public:
  DevicePotential(const DeviceRows& x, int64_t) : x_(x) {}

  double total() const { return sum_of(block_sums_); }
  int64_t at(double target) const {
    const size_t block = skip_sums(block_sums_, target);
    const int64_t begin = static_cast<int64_t>(block) * kDeviceBlock;
    const Tensor part = distances_.slice(0, begin, std::min(kDeviceBlock, x_.count() - begin));
    return begin + position_of_sum(part.clone().to_vector(), target);
  }
  int64_t improve(const Centers& candidates);

 private:
  static constexpr int64_t kDeviceBlock = 4096;

  const DeviceRows& x_;
  Tensor distances_;  // f32 [n]
  std::vector<double> block_sums_;
};

int64_t DevicePotential::improve(const Centers& candidates) {
  Tensor next =
      squared_distances(x_.tensor(), absolute_centers(candidates, x_.origin(), x_.device()));
  if (distances_.defined())
    elementwise_into(next, "min(next, old)", {{"next", next}, {"old", distances_}});
  const std::vector<float> totals = sum(next, {1}).to_vector();
  const auto best = std::min_element(totals.begin(), totals.end()) - totals.begin();
  distances_ = next.slice(0, best, 1).reshape({x_.count()});
  const int64_t whole = x_.count() / kDeviceBlock, rest = x_.count() % kDeviceBlock;
  std::vector<float> sums;
  if (whole > 0)
    sums = sum(distances_.slice(0, 0, whole * kDeviceBlock).reshape({whole, kDeviceBlock}), {1})
               .to_vector();
  if (rest > 0) sums.push_back(sum(distances_.slice(0, whole * kDeviceBlock, rest)).item());
  block_sums_.assign(sums.begin(), sums.end());
  return best;
}

template <class Potential, class Rows>
Centers spread_centers(const Rows& x, int64_t count, Random& random) {
  Centers centers(count, x.features());
  const int64_t trials = 2 + static_cast<int64_t>(std::log(static_cast<double>(count)));
  Potential potential(x, trials);
  for (int64_t j = 0; j < count; ++j) {
    Centers candidates(j == 0 ? 1 : trials, x.features());
    for (int64_t t = 0; t < candidates.count; ++t) {
      // If all samples are centers already, the others repeat samples.
      const bool any = j == 0 || !(potential.total() > 0);
      const int64_t sample =
          any ? static_cast<int64_t>(random.below(static_cast<uint64_t>(x.count())))
              : potential.at(uniform_double(random) * potential.total());
      x.copy_row(sample, candidates.row(t));
    }
    candidates.update_norms();
    const int64_t best = potential.improve(candidates);
    std::copy_n(candidates.row(best), x.features(), centers.row(j));
  }
  centers.update_norms();
  return centers;
}

template <class Rows>
Centers different_samples(const Rows& x, int64_t count, Random& random) {
  Centers centers(count, x.features());
  const std::vector<int64_t> samples = choose_different(count, x.count(), random);
  for (int64_t j = 0; j < count; ++j) x.copy_row(samples[j], centers.row(j));
  centers.update_norms();
  return centers;
}

}  // namespace

Centers kmeans_plus_plus(const CenteredRows& x, int64_t count, Random& random) {
  return spread_centers<HostPotential>(x, count, random);
}

Centers kmeans_plus_plus(const DeviceRows& x, int64_t count, Random& random) {
  return spread_centers<DevicePotential>(x, count, random);
}

Centers random_samples(const CenteredRows& x, int64_t count, Random& random) {
  return different_samples(x, count, random);
}

Centers random_samples(const DeviceRows& x, int64_t count, Random& random) {
  return different_samples(x, count, random);
}

}  // namespace kaiseki::ml
