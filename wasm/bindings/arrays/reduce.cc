// SPDX-License-Identifier: MIT
// Reductions, statistics, sums so far, and sorting (matrix/ops/reduce.h, statistics.h,
// cumulative.h, sort.h). An empty list of axes means all axes.
#include "matrix/ops/reduce.h"

#include "matrix/ops/cumulative.h"
#include "matrix/ops/sort.h"
#include "matrix/ops/statistics.h"
#include "wasm/bindings/arrays/operation.h"

namespace kaiseki::wasm {

template <>
inline constexpr std::tuple kMembers<TopK>{Member{"values", &TopK::values},
                                           Member{"indices", &TopK::indices}};
template <>
inline constexpr std::tuple kMembers<Unique>{
    Member{"values", &Unique::values}, Member{"first", &Unique::first},
    Member{"inverse", &Unique::inverse}, Member{"counts", &Unique::counts}};
template <>
inline constexpr std::tuple kMembers<Histogram>{Member{"counts", &Histogram::counts},
                                                Member{"edges", &Histogram::edges}};

namespace {

/// Without an axis, returns the index in the flat tensor.
Tensor argmax_along(const Tensor& x, std::optional<int> axis) {
  return axis ? argmax(x, *axis) : argmax(x);
}
Tensor argmin_along(const Tensor& x, std::optional<int> axis) {
  return axis ? argmin(x, *axis) : argmin(x);
}

Histogram histogram_of(const Tensor& x, const std::variant<int64_t, Tensor*>& bins, double low,
                       double high) {
  if (const int64_t* count = std::get_if<int64_t>(&bins))
    return histogram(x, *count, static_cast<float>(low), static_cast<float>(high));
  const Tensor& edges = *std::get<Tensor*>(bins);
  return {histogram(x, edges), edges};
}

}  // namespace

void add_reduce_operations(OperationGroup&& table) {
  table.add("reduce(kind, x, axes = [], keep_dims = false)", "The reduction with this name.",
            reduce);
  table.add("reduce_into(kind, x, axes, out, beta = 0)", "out = reduction + beta * out.",
            [](Reduction kind, const Tensor& x, const Axes& axes, Tensor& out, float beta) {
              reduce_into(out, kind, x, axes, beta);
            });
  table.add("sum(x, axes = [], keep_dims = false)", "The sum.", sum);
  table.add("prod(x, axes = [], keep_dims = false)", "The product.", prod);
  table.add("mean(x, axes = [], keep_dims = false)", "The mean.", mean);
  table.add("max(x, axes = [], keep_dims = false)", "The largest element, or NaN.", max);
  table.add("min(x, axes = [], keep_dims = false)", "The smallest element, or NaN.", min);
  table.add("any(x, axes = [], keep_dims = false)", "Whether an element is not 0, bool.", any);
  table.add("all(x, axes = [], keep_dims = false)", "Whether no element is 0, bool.", all);
  table.add("argmax(x, axis = null)", "The first index (i32) of the largest element.",
            argmax_along);
  table.add("argmin(x, axis = null)", "The first index (i32) of the smallest element.",
            argmin_along);

  table.add("var(x, axes = [], ddof = 0, keep_dims = false)",
            "The variance, with n - ddof as divisor.", var);
  table.add("stddev(x, axes = [], ddof = 0, keep_dims = false)", "The root of the variance.",
            stddev);
  table.add("vector_norm(x, p = 2, axes = [], keep_dims = false)",
            "sum(|x|^p)^(1/p). p may be infinite.", vector_norm);
  table.add("logsumexp(x, axes = [], keep_dims = false)", "log(sum(exp(x))), without overflow.",
            logsumexp);
  table.add("quantile(x, q, axes = [], keep_dims = false)",
            "The value below which a part q of the elements lies, interpolated.", quantile);
  table.add("median(x, axes = [], keep_dims = false)", "quantile(x, 0.5).", median);
  table.add("histogram(x, bins, low = 0, high = 1)",
            "Counts in this number of bins from low to high, or between ascending edges.",
            histogram_of);
  table.add("bincount(x, least = 0)",
            "The number of each value from 0 to the largest one of x (i32).", bincount);

  table.add("cumsum(x, axis)", "The sum of the elements so far.", cumsum);
  table.add("cumprod(x, axis)", "The product of the elements so far.", cumprod);
  table.add("cummax(x, axis)", "The largest element so far.", cummax);
  table.add("cummin(x, axis)", "The smallest element so far.", cummin);

  table.add("sort(x, axis = -1, descending = false)", "Sorts along the axis. NaN is last.", sort);
  table.add("argsort(x, axis = -1, descending = false)", "The indices (i32) that sort x.", argsort);
  table.add("topk(x, k, axis = -1, largest = true)",
            "The k largest or smallest elements, in order, and their indices (i32).", topk);
  table.add("searchsorted(sorted, values, right = false)",
            "The index (i32) at which each value keeps the order, before equal ones or after.",
            searchsorted);
  table.add("unique(x)",
            "The different elements, their first positions, inverse = their index for each element "
            "of x, and counts.",
            unique);
}

}  // namespace kaiseki::wasm
