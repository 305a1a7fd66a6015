// SPDX-License-Identifier: MIT
// Products of a row of x (f32) with weights (double). The order of additions is fixed.
#pragma once

#include <cstdint>

namespace kaiseki::ml {

inline double wide_dot(int64_t n, const float* x, const double* w) {
  constexpr int64_t kLanes = 8;  // the compiler makes vectors of them
  double sums[kLanes] = {};
  const int64_t whole = n / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += x[i + lane] * w[i + lane];
  for (int64_t i = whole; i < n; ++i) sums[0] += x[i] * w[i];
  double total = 0;
  for (double sum : sums) total += sum;
  return total;
}

inline double wide_squares(int64_t n, const float* x) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += static_cast<double>(x[i]) * x[i];
  return total;
}

/// w += factor * x
inline void wide_add(int64_t n, double factor, const float* x, double* w) {
  for (int64_t i = 0; i < n; ++i) w[i] += factor * x[i];
}

}  // namespace kaiseki::ml
