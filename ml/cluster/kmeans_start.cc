// SPDX-License-Identifier: MIT
#include "ml/cluster/kmeans_start.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ml/draw.h"

namespace kaiseki::ml {
namespace {

/// The squared distance of each sample from its nearest center, with a sum for each block.
struct Potential {
  std::vector<float> distances;
  std::vector<double> block_sums;
  double total = 0;

  explicit Potential(int64_t count)
      : distances(static_cast<size_t>(count), std::numeric_limits<float>::infinity()),
        block_sums(static_cast<size_t>((count + kRowsPerProduct - 1) / kRowsPerProduct)) {}

  void add_up() {
    total = 0;
    for (const double sum : block_sums) total += sum;
  }

  /// The sample at which the running sum of distances passes `target`.
  int64_t at(double target) const {
    size_t block = 0;
    while (block + 1 < block_sums.size() && target >= block_sums[block])
      target -= block_sums[block++];
    const auto count = static_cast<int64_t>(distances.size());
    const int64_t end = std::min(count, static_cast<int64_t>(block + 1) * kRowsPerProduct);
    int64_t last = end - 1;
    for (int64_t i = static_cast<int64_t>(block) * kRowsPerProduct; i < end; ++i) {
      if (distances[i] == 0) continue;
      last = i;
      if (target < distances[i]) break;
      target -= distances[i];
    }
    return last;
  }
};

/// Computes the potential that each candidate would give to `next`. Swaps the least of them with
/// `current`, and returns its candidate.
int64_t improve(const CenteredRows& x, Potential& current, const Centers& candidates,
                std::vector<Potential>& next) {
  const int64_t trials = candidates.count;
  for_each_centered_block(x, [&](const float* rows, int64_t begin, int64_t count) {
    float* partial = block_scratch(BlockScratch::products, count * trials);
    partial_distances(rows, count, candidates, partial);
    for (int64_t t = 0; t < trials; ++t) {
      double sum = 0;
      for (int64_t i = 0; i < count; ++i) {
        const float norm = x.squared_norm(begin + i);
        float distance = partial[i * trials + t] + norm;
        // A small difference of large numbers is computed directly. For equal samples it is 0.
        if (distance < 100 * distance_slack(norm, candidates.norms[t]))
          distance = squared_distance(rows + i * x.features(), candidates.row(t), x.features());
        distance = std::min(distance, current.distances[begin + i]);
        next[t].distances[begin + i] = distance;
        sum += distance;
      }
      next[t].block_sums[begin / kRowsPerProduct] = sum;
    }
  });
  int64_t best = 0;
  for (int64_t t = 0; t < trials; ++t) {
    next[t].add_up();
    if (next[t].total < next[best].total) best = t;
  }
  std::swap(current, next[best]);
  return best;
}

}  // namespace

Centers kmeans_plus_plus(const CenteredRows& x, int64_t count, Random& random) {
  Centers centers(count, x.features());
  const int64_t trials = 2 + static_cast<int64_t>(std::log(static_cast<double>(count)));
  Potential potential(x.count());
  std::vector<Potential> next(static_cast<size_t>(trials), Potential(x.count()));
  for (int64_t j = 0; j < count; ++j) {
    Centers candidates(j == 0 ? 1 : trials, x.features());
    for (int64_t t = 0; t < candidates.count; ++t) {
      // If all samples are centers already, the others repeat samples.
      const bool any = j == 0 || !(potential.total > 0);
      const int64_t sample =
          any ? static_cast<int64_t>(random.below(static_cast<uint64_t>(x.count())))
              : potential.at(uniform_double(random) * potential.total);
      x.copy_row(sample, candidates.row(t));
    }
    candidates.update_norms();
    const int64_t best = improve(x, potential, candidates, next);
    std::copy_n(candidates.row(best), x.features(), centers.row(j));
  }
  centers.update_norms();
  return centers;
}

Centers random_samples(const CenteredRows& x, int64_t count, Random& random) {
  Centers centers(count, x.features());
  const std::vector<int64_t> samples = choose_different(count, x.count(), random);
  for (int64_t j = 0; j < count; ++j) x.copy_row(samples[j], centers.row(j));
  centers.update_norms();
  return centers;
}

}  // namespace kaiseki::ml
