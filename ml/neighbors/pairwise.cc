// SPDX-License-Identifier: MIT
#include "ml/neighbors/pairwise.h"

#include <algorithm>
#include <vector>

#include "matrix/ops/check.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/create.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/lazy.h"
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
  const Tensor to = y - shift;
  const Tensor norms = reduce(Reduction::sum_of_squares, to, {1});
  Tensor result({n, m}, DType::f32, x.device());
  const int64_t step = rows_per_block(std::max(m, features));
  for (int64_t begin = 0; begin < n; begin += step) {
    const int64_t count = std::min(step, n - begin);
    const Tensor rows = x.slice(0, begin, count) - shift;
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

void check_pair(const Tensor& x, const Tensor& y, std::string_view name) {
  check_samples(y, name);
  check_samples(x, y.dim(1), name);
  check_same_device(x, y, name);
}

/// Elements of a temporary tensor of differences, if one row of x has no more.
constexpr int64_t kMostDifferences = int64_t{1} << 20;

}  // namespace

Tensor euclidean_distances(const Tensor& x, const Tensor& y, bool squared) {
  check_pair(x, y, kName);
  return distances(x.contiguous(), y.contiguous(), squared, false);
}

Tensor euclidean_distances(const Tensor& x, bool squared) {
  check_samples(x, kName);
  const Tensor samples = x.contiguous();
  return distances(samples, samples, squared, true);
}

Tensor manhattan_distances(const Tensor& x, const Tensor& y) {
  check_pair(x, y, "manhattan_distances");
  const int64_t n = x.dim(0), m = y.dim(0), features = x.dim(1);
  std::vector<Tensor> parts;
  const int64_t step = std::max<int64_t>(1, kMostDifferences / std::max<int64_t>(1, m * features));
  const Tensor columns = y.contiguous().reshape({1, m, features});
  for (int64_t begin = 0; begin < n; begin += step) {
    const int64_t count = std::min(step, n - begin);
    const Tensor rows = x.slice(0, begin, count).contiguous().reshape({count, 1, features});
    parts.push_back(sum(elementwise("abs(x - y)", {{"x", rows}, {"y", columns}}), {2}));
  }
  return concatenate(parts, 0);
}

Tensor cosine_distances(const Tensor& x, const Tensor& y) {
  check_pair(x, y, "cosine_distances");
  const auto with_length_1 = [](const Tensor& t) {
    // A sample is divided by its largest element first, so that no square overflows.
    const Tensor scaled = elementwise(
        "x / where(most > 0, most, 1)",
        {{"x", t}, {"most", reduce(Reduction::max, elementwise("abs(x)", {{"x", t}}), {1}, true)}});
    return elementwise(
        "x / sqrt(where(squares > 0, squares, 1))",
        {{"x", scaled}, {"squares", reduce(Reduction::sum_of_squares, scaled, {1}, true)}});
  };
  Tensor result({x.dim(0), y.dim(0)}, DType::f32, x.device());
  gemm(with_length_1(x), with_length_1(y), result, {.transpose_b = true});
  elementwise_into(result, "min(max(1 - c, 0), 2)", {{"c", result}});
  return result;
}

Tensor pairwise_distances(const Tensor& x, const Tensor& y, Metric metric) {
  if (metric == Metric::manhattan) return manhattan_distances(x, y);
  if (metric == Metric::cosine) return cosine_distances(x, y);
  return euclidean_distances(x, y, metric == Metric::squared_euclidean);
}

}  // namespace kaiseki::ml
