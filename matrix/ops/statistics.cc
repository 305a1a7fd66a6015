// SPDX-License-Identifier: MIT
#include "matrix/ops/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "matrix/ops/check.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/create.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/index.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/sort.h"

namespace kaiseki {
namespace {

/// Places of elements among the edges are i32.
constexpr int64_t kMostBins = std::numeric_limits<int32_t>::max() - 2;

/// x as f32. f64 is refused, because it would lose digits.
Tensor as_f32(const Tensor& x, std::string_view name) {
  check_defined(x, "x", name);
  require(x.dtype() != DType::f64, name, "expected x of type f32, i32, u8 or bool, got f64");
  return cast(x, DType::f32);
}

/// x with the reduced axes at the end, merged to one: [kept..., n].
struct ReducedLast {
  ReducedLast(const Tensor& given, const Axes& axes, std::string_view name) {
    const Tensor x = as_f32(given, name);
    const auto reduced = named_axes(x.shape(), axes, name);
    std::vector<int> order;
    int64_t n = 1;
    Shape shape;
    for (bool last : {false, true})
      for (int i = 0; i < x.rank(); ++i)
        if (reduced[i] == last) order.push_back(i);
    for (int i = 0; i < x.rank(); ++i) {
      const bool gone = reduced[i];
      kept.push_back(gone ? 1 : x.dim(i));
      if (gone)
        n *= x.dim(i);
      else
        shape.push_back(x.dim(i));
    }
    dropped = shape;
    shape.push_back(n);
    rows = x.permute(order).contiguous().reshape(shape);
  }
  Tensor rows;
  Shape kept, dropped;  // the shape of the result, with the reduced axes or without
};

float divisor(const Tensor& x, const Tensor& result, int64_t ddof) {
  const int64_t n = result.size() ? x.size() / result.size() : 0;
  return static_cast<float>(std::max<int64_t>(0, n - ddof));
}

}  // namespace

Tensor var(const Tensor& given, const Axes& axes, int64_t ddof, bool keep_dims) {
  const Tensor x = as_f32(given, "var");
  const Tensor centered = x - mean(x, axes, true);
  const Tensor squares = reduce(Reduction::sum_of_squares, centered, axes, keep_dims);
  const float n = divisor(x, squares, ddof);
  if (n == 0) return full_like(squares, std::numeric_limits<float>::quiet_NaN());
  return elementwise("s / n", {{"s", squares}, {"n", n}});
}

Tensor stddev(const Tensor& x, const Axes& axes, int64_t ddof, bool keep_dims) {
  return elementwise("sqrt(v)", {{"v", var(x, axes, ddof, keep_dims)}});
}

Tensor vector_norm(const Tensor& given, double p, const Axes& axes, bool keep_dims) {
  const Tensor x = as_f32(given, "vector_norm");
  if (p == 2)
    return elementwise("sqrt(s)", {{"s", reduce(Reduction::sum_of_squares, x, axes, keep_dims)}});
  if (p == 0) return sum(elementwise("f32(x != 0)", {{"x", x}}), axes, keep_dims);
  const Tensor size = elementwise("abs(x)", {{"x", x}});
  if (std::isinf(p)) return p > 0 ? max(size, axes, keep_dims) : min(size, axes, keep_dims);
  if (p == 1) return sum(size, axes, keep_dims);
  require(!std::isnan(p), "vector_norm", "expected a number as p, got NaN");
  const Tensor powers =
      sum(elementwise("pow(x, p)", {{"x", size}, {"p", static_cast<float>(p)}}), axes, keep_dims);
  return elementwise("pow(s, p)", {{"s", powers}, {"p", static_cast<float>(1 / p)}});
}

Tensor logsumexp(const Tensor& given, const Axes& axes, bool keep_dims) {
  const Tensor x = as_f32(given, "logsumexp");
  const Tensor largest = max(x, axes, true);
  // An infinite maximum must not be subtracted from itself.
  const Tensor shift = elementwise("abs(m) <= big ? m : 0",
                                   {{"m", largest}, {"big", std::numeric_limits<float>::max()}});
  const Tensor total = sum(elementwise("exp(x - m)", {{"x", x}, {"m", shift}}), axes, keep_dims);
  return elementwise("log(s) + m", {{"s", total}, {"m", shift.reshape(total.shape())}});
}

Tensor quantile(const Tensor& x, double q, const Axes& axes, bool keep_dims) {
  const ReducedLast reduced(x, axes, "quantile");
  const Tensor& rows = reduced.rows;
  const Shape& shape = keep_dims ? reduced.kept : reduced.dropped;
  require(q >= 0 && q <= 1, "quantile", "expected q from 0 to 1, got ", q);
  const int64_t n = rows.dim(-1);
  require(n > 0 || shape.elements() == 0, "quantile", "expected elements, got shape ", x.shape());
  if (shape.elements() == 0) return Tensor(shape, DType::f32, x.device());
  const double position = q * static_cast<double>(n - 1);
  const auto below = static_cast<int64_t>(position);
  const Tensor sorted = sort(rows);
  auto at = [&](int64_t i) { return sorted.slice(-1, i, 1); };
  // A NaN is the last of the sorted elements. An infinity times 0 would be a NaN.
  return elementwise("isnan(last) ? last : t == 0 ? a : a == b || t == 1 ? b : a * (1 - t) + b * t",
                     {{"a", at(below)},
                      {"b", at(std::min(below + 1, n - 1))},
                      {"t", static_cast<float>(position - static_cast<double>(below))},
                      {"last", at(n - 1)}})
      .reshape(shape);
}

Tensor median(const Tensor& x, const Axes& axes, bool keep_dims) {
  return quantile(x, 0.5, axes, keep_dims);
}

Tensor histogram(const Tensor& given, const Tensor& edges) {
  const Tensor x = as_f32(given, "histogram");
  check_tensor(edges, "edges", "histogram", x.device());
  require(edges.rank() == 1 && edges.dim(0) >= 2, "histogram",
          "expected two edges or more, got shape ", edges.shape());
  const int64_t bins = edges.dim(0) - 1;
  // The last bin includes its upper edge, so that edge moves to the next float. NaN follows
  // infinity.
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float last = edges(Slice(-1)).contiguous().item();
  const float above =
      last == kInfinity ? std::numeric_limits<float>::quiet_NaN() : std::nextafter(last, kInfinity);
  const Tensor bounds[] = {edges.slice(0, 0, bins), Tensor::full({1}, above, x.device())};
  // Place 0 is for elements below the edges, the last one for those above, and for NaNs.
  const Tensor place =
      searchsorted(concatenate(bounds, 0), x.contiguous().reshape({x.size()}), true);
  Tensor counts = Tensor::zeros({bins + 2}, DType::i32, x.device());
  add_at(counts, place, ones({1}, DType::i32, x.device()), 0);
  return counts.slice(0, 1, bins).clone();
}

Histogram histogram(const Tensor& x, int64_t bins, float low, float high) {
  check_defined(x, "x", "histogram");
  require(bins <= kMostBins, "histogram", "expected at most ", kMostBins, " bins, got ", bins);
  require(bins > 0 && low < high && std::isfinite(low) && std::isfinite(high), "histogram",
          "expected bins from low to high, which are finite, got ", bins, " bins from ", low,
          " to ", high);
  const Tensor edges = linspace(low, high, bins + 1, true, x.device());
  return {histogram(x, edges), edges};
}

Tensor bincount(const Tensor& x, int64_t least) {
  check_tensor(x, "x", "bincount", DType::i32);
  int64_t length = std::max<int64_t>(0, least);
  if (x.size() > 0) {
    const int32_t low = min(x).to_vector<int32_t>()[0], high = max(x).to_vector<int32_t>()[0];
    require(low >= 0, "bincount", "expected values of 0 or more, got ", low);
    length = std::max(length, int64_t{high} + 1);
  }
  Tensor counts = Tensor::zeros({length}, DType::i32, x.device());
  add_at(counts, x.contiguous().reshape({x.size()}), ones({1}, DType::i32, x.device()), 0);
  return counts;
}

}  // namespace kaiseki
