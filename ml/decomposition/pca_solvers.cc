// SPDX-License-Identifier: MIT
#include "ml/decomposition/pca_solvers.h"

#include <algorithm>

#include "matrix/linalg/eigh.h"
#include "matrix/linalg/qr.h"
#include "matrix/linalg/svd.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/lazy.h"
#include "matrix/random.h"
#include "ml/decomposition/gram.h"
#include "ml/row_blocks.h"
#include "ml/samples.h"

namespace kaiseki::ml {
PrincipalAxes largest_axes(const Tensor& symmetric, int64_t count) {
  const EighResult parts = eigh(symmetric);
  const int64_t n = symmetric.dim(0);
  const double *values = parts.values.data<double>(), *vectors = parts.vectors.data<double>();
  PrincipalAxes result;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t column = n - 1 - i;
    result.squares.push_back(std::max(0.0, values[column]));
    for (int64_t j = 0; j < n; ++j) result.axes.push_back(vectors[j * n + column]);
  }
  return result;
}

PrincipalAxes full_axes(const Tensor& x, const std::vector<double>& mean) {
  if (x.dim(0) < x.dim(1)) return axes_of_rows(centered_doubles(x, mean));
  return largest_axes(centered_gram(x, mean), x.dim(1));
}

PrincipalAxes axes_of_rows(const Tensor& centered) {
  const SvdResult parts = svd(centered);
  PrincipalAxes result{parts.vt.to_vector<double>(), parts.s.to_vector<double>()};
  for (double& value : result.squares) value *= value;
  return result;
}

PrincipalAxes randomized_axes(const Tensor& x, const std::vector<double>& mean, int64_t count,
                              const RandomizedAxesOptions& options) {
  const int64_t features = x.dim(1);
  const int64_t width = std::min(count + options.oversampling, std::min(x.dim(0), features));
  const Tensor shift = tensor_from(mean, {features}, x.device());
  std::vector<double> start(static_cast<size_t>(features * width));
  Random random(options.seed);
  for (double& value : start) value = static_cast<double>(random.normal());
  Tensor basis = qr(f64_tensor(start, {features, width})).q;  // f64 [features, width]
  const auto narrow = [&] { return cast(basis, DType::f32).to(x.device()); };
  // One more than power_iterations, because the start is not yet in the range of x.
  for (int64_t i = 0; i <= options.power_iterations; ++i) {
    const Tensor from = narrow();
    ProductSum sum({features, width}, x.device());
    for_each_row_block(x, [&](const Tensor& rows, int64_t) {
      const Tensor centered = rows - shift;
      sum.add(centered, matmul(centered, from));
    });
    basis = qr(f64_tensor(sum.total(), {features, width})).q;
  }
  const Tensor from = narrow();
  ProductSum small({width, width}, x.device());
  for_each_row_block(x, [&](const Tensor& rows, int64_t) {
    const Tensor scores = matmul(rows - shift, from);
    small.add(scores, scores);
  });
  const PrincipalAxes inner = largest_axes(f64_tensor(small.total(), {width, width}), count);
  const Tensor axes = matmul(f64_tensor(inner.axes, {count, width}), basis, false, true);
  return {axes.to_vector<double>(), inner.squares};
}

}  // namespace kaiseki::ml
