// SPDX-License-Identifier: MIT
// Plain loops in double precision, for references. Tests spend much of their time here, so these
// loops are optimized and without sanitizers in every build.
#pragma once

#include <cstdint>

#include "matrix/conv/problem.h"

namespace kaiseki::test {

/// An operand of a product. Element (i, j) is values[i * row + j * column].
struct FloatMatrix {
  const float* values;
  int64_t row, column;
};

/// The product of m x k and k x n elements, and the products of their absolute values. Both results
/// are m x n, row-major.
void multiply_loops(const FloatMatrix& a, const FloatMatrix& b, int64_t m, int64_t n, int64_t k,
                    double* sums, double* sizes);

/// Adds the product of a [m, k] and b [k, n] to c [m, n]. All are row-major.
void multiply_loops(const double* a, const double* b, int64_t m, int64_t n, int64_t k, double* c);

/// Row-major tensors of a convolution. Those of the results begin as zeros.
struct ConvLoops {
  const double *x, *filter, *dy;
  double *y, *y_size, *dx, *dx_size, *dfilter, *dfilter_size;
};

/// Adds the results of all directions. Each `_size` gets the sum of the products' absolute values.
void conv_loops(const ConvProblem& p, const ConvLoops& at);

}  // namespace kaiseki::test
