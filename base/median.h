// SPDX-License-Identifier: MIT
// Order statistics of a few measurements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace kaiseki {

/// The value below which the fraction `q` of the values lies, 0 <= q < 1. Expects at least one.
inline double quantile(std::vector<double> values, double q) {
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size()));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// The middle value. For an even number of values it is the upper of the two middle values. Expects
/// at least one.
inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

}  // namespace kaiseki
