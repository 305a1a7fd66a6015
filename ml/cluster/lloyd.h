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
  std::vector<int32_t> labels;  // of these centers
  double inertia = 0;           // the sum of squared distances
  int64_t iterations = 0;
};

LloydResult lloyd(const CenteredRows& x, Centers centers, const LloydOptions& options);

}  // namespace kaiseki::ml
