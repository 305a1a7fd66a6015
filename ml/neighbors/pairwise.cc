// SPDX-License-Identifier: MIT
#include "ml/neighbors/pairwise.h"

#include <algorithm>

#include "matrix/ops/check.h"
#include "matrix/ops/create.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/reduce.h"
#include "ml/moments.h"
#include "ml/row_blocks.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr std::string_view kName = "euclidean_distances";

Tensor distances(const Tensor& x, const Tensor& y, bool squared, bool same) {
  const int64_t n = x.dim(0), m = y.dim(0), features = x.dim(1);
  const Tensor shift = tensor_from(column_means(y), {features}, y.device());
  const Tensor to = subtract(y, shift);
  const Tensor norms = reduce(Reduction::sum_of_squares, to, {1});
  Tensor result({n, m}, DType::f32, x.device());
  const int64_t step = rows_per_block(std::max(m, features));
  for (int64_t begin = 0; begin < n; begin += step) {
    const int64_t count = std::min(step, n - begin);
    const Tensor rows = subtract(x.slice(0, begin, count), shift);
    const Tensor row_norms = reduce(Reduction::sum_of_squares, rows, {1}, true);
    Tensor out = result.slice(0, begin, count);
    gemm(rows, to, out, {.transpose_b = true, .alpha = -2, .bias_per_column = &norms});
    elementwise_into(out, squared ? "max(d + norm, 0)" : "sqrt(max(d + norm, 0))",
                     {{"d", out}, {"norm", row_norms}});
    if (same)
      elementwise_into(out, "d - d * diagonal",
                       {{"d", out}, {"diagonal", eye(count, m, begin, DType::f32, x.device())}});
  }
  return result;
}

}  // namespace

Tensor euclidean_distances(const Tensor& x, const Tensor& y, bool squared) {
  check_samples(y, kName);
  check_samples(x, y.dim(1), kName);
  check_same_device(x, y, kName);
  return distances(x.contiguous(), y.contiguous(), squared, false);
}

Tensor euclidean_distances(const Tensor& x, bool squared) {
  check_samples(x, kName);
  const Tensor samples = x.contiguous();
  return distances(samples, samples, squared, true);
}

}  // namespace kaiseki::ml
