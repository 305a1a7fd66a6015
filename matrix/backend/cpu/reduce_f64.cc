// SPDX-License-Identifier: MIT
// Reduces one axis at a time, from the last to the first. Neighboring axes are already merged, so
// there are few passes.
#include "matrix/backend/cpu/reduce_f64.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "matrix/ceil_div.h"
#include "matrix/threads.h"

namespace kaiseki::cpu {
namespace {

constexpr int64_t kWork = 16384;  // elements that a task reads
constexpr int64_t kSums = 8;      // independent sums, for vector instructions
constexpr int64_t kColumns = 512;

struct Pass {
  Reduction kind;  // sum_of_squares only in the first pass
  int64_t outer, n, inner;
};

double combine(Reduction kind, double a, double b) {
  if (kind == Reduction::max || kind == Reduction::min) {
    if (a != a || b != b) return a + b;
    return kind == Reduction::max ? std::max(a, b) : std::min(a, b);
  }
  return a + b;
}

double identity(Reduction kind) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return kind == Reduction::max ? -kInfinity : kind == Reduction::min ? kInfinity : 0;
}

/// Reduces n contiguous values.
template <typename Combine>
double run_of(const double* x, int64_t n, double start, Combine add) {
  double sums[kSums];
  std::fill_n(sums, kSums, start);
  int64_t i = 0;
  for (; i + kSums <= n; i += kSums)
    for (int64_t j = 0; j < kSums; ++j) sums[j] = add(sums[j], x[i + j]);
  for (int64_t j = 0; i < n; ++i, ++j) sums[j] = add(sums[j], x[i]);
  for (int64_t width = kSums / 2; width > 0; width /= 2)
    for (int64_t j = 0; j < width; ++j) sums[j] = add(sums[j], sums[j + width]);
  return sums[0];
}

double piece(Reduction kind, const double* x, int64_t n) {
  if (kind == Reduction::sum_of_squares) {
    double total = 0;
    double squares[64];
    for (int64_t i = 0; i < n; i += 64) {
      const int64_t count = std::min<int64_t>(64, n - i);
      for (int64_t j = 0; j < count; ++j) squares[j] = x[i + j] * x[i + j];
      total += run_of(squares, count, 0, [](double a, double b) { return a + b; });
    }
    return total;
  }
  if (kind == Reduction::max || kind == Reduction::min)
    return run_of(x, n, identity(kind), [&](double a, double b) { return combine(kind, a, b); });
  return run_of(x, n, 0, [](double a, double b) { return a + b; });
}

/// Reduces [outer, n] to [outer].
void reduce_rows(const Pass& p, const double* x, double* y) {
  const int64_t pieces = std::max<int64_t>(1, ceil_div(p.n, kWork));
  std::vector<double> partial(static_cast<size_t>(p.outer * pieces));
  const int64_t grain = std::max<int64_t>(1, kWork / std::max<int64_t>(1, p.n));
  parallel_for(p.outer * pieces, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % pieces * kWork;
      partial[i] = piece(p.kind, x + i / pieces * p.n + first, std::min(kWork, p.n - first));
    }
  });
  for (int64_t o = 0; o < p.outer; ++o) {
    double total = partial[o * pieces];
    for (int64_t i = 1; i < pieces; ++i) total = combine(p.kind, total, partial[o * pieces + i]);
    y[o] = total;
  }
}

/// Reduces [outer, n, inner] to [outer, inner].
void reduce_columns(const Pass& p, const double* x, double* y) {
  const int64_t blocks = ceil_div(p.inner, kColumns);
  parallel_for(p.outer * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t o = i / blocks, first = i % blocks * kColumns;
      const int64_t count = std::min(kColumns, p.inner - first);
      double* total = y + o * p.inner + first;
      std::fill_n(total, count, identity(p.kind));
      for (int64_t row = 0; row < p.n; ++row) {
        const double* from = x + (o * p.n + row) * p.inner + first;
        if (p.kind == Reduction::sum_of_squares)
          for (int64_t j = 0; j < count; ++j) total[j] += from[j] * from[j];
        else
          for (int64_t j = 0; j < count; ++j) total[j] = combine(p.kind, total[j], from[j]);
      }
    }
  });
}

}  // namespace

void reduce_f64(const ReduceArgs& args) {
  const double* x = args.input->data<double>();
  std::vector<double> values;  // the result of the last pass
  Reduction kind = args.kind == Reduction::mean ? Reduction::sum : args.kind;
  double terms = 1;
  int64_t inner = 1;
  for (int axis = args.shape.rank() - 1; axis >= 0; --axis) {
    if (!args.reduced[axis]) {
      inner *= args.shape[axis];
      continue;
    }
    Pass pass{kind, 1, args.shape[axis], inner};
    for (int i = 0; i < axis; ++i) pass.outer *= args.shape[i];
    std::vector<double> next(static_cast<size_t>(pass.outer * inner));
    (inner == 1 ? reduce_rows : reduce_columns)(pass, x, next.data());
    values = std::move(next);
    x = values.data();
    terms *= static_cast<double>(args.shape[axis]);
    if (kind == Reduction::sum_of_squares) kind = Reduction::sum;
  }
  double* y =
      args.beta == 0 ? args.output->overwrite<double>() : args.output->mutable_data<double>();
  for (int64_t i = 0; i < args.output->size(); ++i) {
    double value = args.kind == Reduction::mean ? x[i] / terms : x[i];
    if (args.kind == Reduction::sum_of_squares && values.empty()) value *= value;
    y[i] = args.beta == 0 ? value : value + args.beta * y[i];
  }
}

}  // namespace kaiseki::cpu
