// SPDX-License-Identifier: MIT
// The part that all kinds of PCA share: axes, their variances, and the maps to them and back.
#pragma once

#include <string_view>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

/// Axes of the largest variance, in double on the host.
struct PrincipalAxes {
  std::vector<double> axes;     // [count, features], orthonormal rows
  std::vector<double> squares;  // [count]: sums of squares along the axes, descending
};

/// Makes the element of each axis with the largest magnitude positive.
void fix_signs(PrincipalAxes& axes, int64_t features);

struct Projection {
  Tensor components;                // f32 [count, features]
  Tensor explained_variance;        // f32 [count]
  Tensor explained_variance_ratio;  // f32 [count]
  Tensor singular_values;           // f32 [count]
  Tensor mean;                      // f32 [features]
  double noise_variance = 0;

  bool defined() const { return components.defined(); }
  /// f32 [n, features] to f32 [n, count], on the device of x.
  Tensor apply(const Tensor& x, std::string_view name) const;
  /// f32 [n, count] to f32 [n, features].
  Tensor invert(const Tensor& z, std::string_view name) const;

  // For apply() and invert().
  Tensor forward, forward_bias, backward;
};

struct ProjectionInput {
  const PrincipalAxes& axes;
  const std::vector<double>& mean;  // [features]
  int64_t samples;                  // of which squares and total are sums; 2 or more
  double total;                     // the sum of squares along all axes
  int64_t most;                     // the number of axes that squares of x can have
  bool whiten;
};
Projection make_projection(const ProjectionInput& input, Device device);

}  // namespace kaiseki::ml
