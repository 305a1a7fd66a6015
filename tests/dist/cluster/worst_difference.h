// SPDX-License-Identifier: MIT
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kaiseki::dist {

/// The largest difference, relative to the largest value of each tensor.
inline double worst_difference(const std::vector<std::vector<float>>& a,
                               const std::vector<std::vector<float>>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i].size() == b[i].size());
    double most = 0, size = 1e-3;  // a gradient that is zero has roundings only
    for (size_t j = 0; j < a[i].size(); ++j) {
      most = std::max(most, std::abs(static_cast<double>(a[i][j]) - b[i][j]));
      size = std::max(size, std::abs(static_cast<double>(a[i][j])));
    }
    worst = std::max(worst, most / size);
  }
  return worst;
}

}  // namespace kaiseki::dist
