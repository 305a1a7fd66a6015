// SPDX-License-Identifier: MIT
// Statistics along any axes. An empty list of axes means all axes. i32, u8 and bool are converted
// to f32, which is the type of the results. A NaN in the input gives NaN, except where a function
// counts. All throw ShapeError.
#pragma once

#include <cstdint>
#include <limits>

#include "matrix/ops/reduce.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// The mean of (x - mean(x))^2, with n - ddof as divisor: 0 for the population, 1 for a sample. If
/// n <= ddof, the result is NaN. stddev() is its square root (std in NumPy).
Tensor var(const Tensor& x, const Axes& axes = {}, int64_t ddof = 0, bool keep_dims = false);
Tensor stddev(const Tensor& x, const Axes& axes = {}, int64_t ddof = 0, bool keep_dims = false);

/// The norm of the elements as a vector: sum(|x|^p)^(1/p). For an infinite p, the largest |x|, or
/// the smallest. For p = 0, the number of elements that are not 0.
Tensor vector_norm(const Tensor& x, double p = 2, const Axes& axes = {}, bool keep_dims = false);
/// log(sum(exp(x))), without overflow.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

/// The value at position q * (n - 1) of the sorted elements. It is interpolated linearly between
/// two elements. 0 <= q <= 1. Throws ShapeError if there are no elements.
Tensor quantile(const Tensor& x, double q, const Axes& axes = {}, bool keep_dims = false);
/// quantile(x, 0.5).
Tensor median(const Tensor& x, const Axes& axes = {}, bool keep_dims = false);

struct Histogram {
  Tensor counts;  // i32 [bins]
  Tensor edges;   // [bins + 1]
};
/// The number of elements from each edge to before the next. The last bin includes its upper edge.
/// Elements outside and NaNs do not count. The edges ascend.
Tensor histogram(const Tensor& x, const Tensor& edges);
/// `bins` bins of equal width from low to high.
Histogram histogram(const Tensor& x, int64_t bins, float low, float high);
/// The number (i32) of each value from 0 to the largest of x (i32), at least `least` numbers. Reads
/// the extremes of x on the host, because the shape of the result depends on them.
Tensor bincount(const Tensor& x, int64_t least = 0);

}  // namespace kaiseki
