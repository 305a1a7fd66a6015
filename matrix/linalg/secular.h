// SPDX-License-Identifier: MIT
// The eigenvalues of a diagonal matrix plus a matrix of rank one.
#pragma once

#include <cstdint>
#include <vector>

namespace kaiseki::linalg {

/// D + rho z z^T. `poles` is the diagonal, strictly ascending. rho > 0 and no z is 0.
struct RankOneUpdate {
  std::vector<double> poles, z;
  double rho;
};

/// Returns eigenvalue `index`, which lies above pole `index` and below the next one. Sets
/// differences[i] = poles[i] - eigenvalue, with a small relative error. Solves the secular equation
/// by rational interpolation (Li, "Solving secular equations stably and efficiently", 1993) within
/// a bracket.
double secular_root(const RankOneUpdate& update, int64_t index, double* differences);

}  // namespace kaiseki::linalg
