// SPDX-License-Identifier: MIT
#include "ml/cluster/device_lloyd.h"

#include <algorithm>
#include <utility>

#include "matrix/ops/cluster.h"
#include "matrix/ops/reduce.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

class DeviceIteration {
 public:
  DeviceIteration(const DeviceRows& x, Centers centers)
      : x_(x), k_(centers.count), width_(x.features() + 1), centers_(std::move(centers)) {}

  void assign() {
    nearest_ = nearest_labels(x_.tensor(), absolute_centers(centers_, x_.origin(), x_.device()));
  }
  /// Moves centers to the means of their samples. Returns the sum of the squared movements.
  double move();
  LloydResult result(int64_t iterations) {
    const double inertia = static_cast<double>(sum(nearest_.squares).item());
    return {std::move(centers_), nearest_.labels, inertia, iterations};
  }

 private:
  void fill_empty_clusters(std::vector<float>& sums);

  const DeviceRows& x_;
  const int64_t k_, width_;
  Centers centers_;
  NearestLabels nearest_;
};

void DeviceIteration::fill_empty_clusters(std::vector<float>& sums) {
  std::vector<int64_t> counts;
  for (int64_t j = 0; j < k_; ++j)
    counts.push_back(static_cast<int64_t>(sums[(j + 1) * width_ - 1]));
  if (std::find(counts.begin(), counts.end(), 0) == counts.end()) return;
  std::vector<int32_t> labels = nearest_.labels.to_vector<int32_t>();
  std::vector<float> row(static_cast<size_t>(width_), 1);
  for (const ClusterRefill& refill :
       refill_clusters(nearest_.squares.to_vector(), labels, std::move(counts))) {
    x_.copy_row(refill.sample, row.data());
    for (int64_t f = 0; f < width_; ++f) {
      sums[refill.from * width_ + f] -= row[f];
      sums[refill.to * width_ + f] += row[f];
    }
  }
}

double DeviceIteration::move() {
  std::vector<float> sums = cluster_sums(x_.tensor(), nearest_.labels, k_).to_vector();
  fill_empty_clusters(sums);
  double moved = 0;
  for (int64_t j = 0; j < k_; ++j) {
    const float* sum = sums.data() + j * width_;
    const auto count = static_cast<double>(sum[x_.features()]);
    if (count == 0) continue;
    float* center = centers_.row(j);
    for (int64_t f = 0; f < x_.features(); ++f) {
      const auto next = static_cast<float>(static_cast<double>(sum[f]) / count);
      const double step = static_cast<double>(next) - static_cast<double>(center[f]);
      moved += step * step;
      center[f] = next;
    }
  }
  return moved;
}

}  // namespace

LloydResult lloyd(const DeviceRows& x, Centers centers, const LloydOptions& options) {
  DeviceIteration iteration(x, std::move(centers));
  int64_t iterations = 0;
  double moved = 0;
  do {
    iteration.assign();
    moved = iteration.move();
    ++iterations;
  } while (moved > options.tolerance && iterations < options.max_iter);
  if (moved > 0) iteration.assign();  // else the labels are those of the centers
  return iteration.result(iterations);
}

}  // namespace kaiseki::ml
