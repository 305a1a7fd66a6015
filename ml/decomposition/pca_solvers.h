// SPDX-License-Identifier: MIT
// Ways to find principal axes of f32 [n, features].
#pragma once

#include "matrix/tensor.h"
#include "ml/decomposition/projection.h"

namespace kaiseki::ml {

/// All min(n, features) axes. If n >= features, they are the eigenvectors of the covariance.
/// Otherwise they come from the SVD of a centered copy in f64.
PrincipalAxes full_axes(const Tensor& x, const std::vector<double>& mean);

/// The `count` eigenvectors of the largest eigenvalues of an f64 matrix [features, features].
PrincipalAxes largest_axes(const Tensor& symmetric, int64_t count);

/// The axes of the rows of an f64 matrix that is centered already.
PrincipalAxes axes_of_rows(const Tensor& centered);

struct RandomizedAxesOptions {
  int64_t oversampling = 10;
  int64_t power_iterations = 4;
  uint64_t seed = 0;
};
/// The `count` largest axes by subspace iteration from random vectors (Halko, Martinsson and Tropp,
/// "Finding structure with randomness", 2011). Reads x power_iterations + 2 times, in blocks. Needs
/// memory for a few vectors per axis, and no copy of x.
PrincipalAxes randomized_axes(const Tensor& x, const std::vector<double>& mean, int64_t count,
                              const RandomizedAxesOptions& options);

}  // namespace kaiseki::ml
