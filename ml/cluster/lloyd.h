// SPDX-License-Identifier: MIT
// The iteration of k-means from given centers (Lloyd, 1982), with the bounds of Hamerly ("Making
// k-means even faster", 2010). A sample is read only if its bounds allow a change of its center.
#pragma once

#include <vector>

#include "ml/cluster/centered_rows.h"

namespace kaiseki::ml {

struct LloydOptions {
  int64_t max_iter = 300;
  double tolerance = 0;  // of the sum of the squared movements of centers
  bool bounds = true;    // false: every iteration computes all distances
};

struct LloydResult {
  Centers centers;
  Tensor labels;       // i32 [n], of these centers
  double inertia = 0;  // the sum of squared distances
  int64_t iterations = 0;
};

LloydResult lloyd(const CenteredRows& x, Centers centers, const LloydOptions& options);

/// Repeats iteration.assign(), which returns whether a label changed, and iteration.move(), which
/// returns the sum of the squared movements. Returns the number of repetitions. At the end the
/// labels are those of the centers.
template <class Iteration>
int64_t iterate_lloyd(Iteration& iteration, const LloydOptions& options) {
  int64_t count = 0;
  while (count < options.max_iter) {
    ++count;
    if (!iteration.assign()) return count;
    if (iteration.move() <= options.tolerance) break;
  }
  iteration.assign();
  return count;
}

/// Gives a sample to an empty cluster.
struct ClusterRefill {
  int64_t sample;
  int32_t from, to;
};
/// Each empty cluster gets the sample that is farthest from its center, as in scikit-learn. Other
/// clusters keep at least one sample. If no sample is away from its center, clusters stay empty.
/// distances: from each sample to its center.
std::vector<ClusterRefill> refill_clusters(const std::vector<float>& distances,
                                           const std::vector<int32_t>& labels,
                                           std::vector<int64_t> counts);

}  // namespace kaiseki::ml
