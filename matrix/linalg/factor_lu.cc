// SPDX-License-Identifier: MIT
#include "matrix/linalg/factor_lu.h"

#include <cmath>

#include "matrix/ceil_div.h"
#include "matrix/linalg/kernels.h"
#include "matrix/linalg/triangular.h"

namespace kaiseki::linalg {
namespace {

constexpr int64_t kLeaf = 16;

template <typename T>
class LuFactorization {
 public:
  LuFactorization(const MatrixView<T>& a, LuPivots& pivots)
      : a_(a), pivots_(pivots), columns_(static_cast<size_t>(kLeaf * a.rows)) {}

  /// Factors columns begin..end of the rows from `begin` on.
  void run(int64_t begin, int64_t end) {
    if (end - begin <= kLeaf) return leaf(begin, end);
    const int64_t middle = begin + round_up((end - begin) / 2, kLeaf);
    const int64_t below = a_.rows - middle, right = end - middle;
    run(begin, middle);
    swap_rows(begin, middle, middle, end);
    const MatrixView<T> top = a_.block(begin, middle, middle - begin, right);
    solve_triangular(
        Triangle<T>{a_.block(begin, begin, middle - begin, middle - begin), false, false, true},
        top);
    multiply(-1, Factor<T>{a_.block(middle, begin, below, middle - begin)}, Factor<T>{top}, 1,
             a_.block(middle, middle, below, right));
    run(middle, end);
    swap_rows(middle, end, begin, middle);
  }

  /// Applies the exchanges of rows begin..end to some columns.
  void swap_rows(int64_t begin, int64_t end, int64_t first, int64_t last) const {
    for (int64_t i = begin; i < end; ++i)
      if (pivots_.swapped[i] != i)
        std::swap_ranges(a_.row(i) + first, a_.row(i) + last, a_.row(pivots_.swapped[i]) + first);
  }

 private:
  /// Works on a copy in which columns are contiguous.
  void leaf(int64_t begin, int64_t end) {
    const Kernels<T>& k = kernels<T>();
    const int64_t width = end - begin, height = a_.rows - begin;
    const MatrixView<T> here = a_.block(begin, begin, height, width);
    const MatrixView<T> t{columns_.data(), width, height, height};
    copy_transposed_into(t, here);
    for (int64_t j = 0; j < width; ++j) {
      const int64_t pivot = j + k.largest(height - j, t.row(j) + j);
      pivots_.swapped[begin + j] = begin + pivot;
      if (pivot != j)
        for (int64_t c = 0; c < width; ++c) std::swap(t(c, j), t(c, pivot));
      const T value = t(j, j);
      if (value == 0) {
        if (!pivots_.zero) pivots_.zero = begin + j;
        continue;
      }
      for (int64_t i = j + 1; i < height; ++i) t(j, i) /= value;
      for (int64_t c = j + 1; c < width; ++c)
        k.add_scaled(height - j - 1, -t(c, j), t.row(j) + j + 1, t.row(c) + j + 1);
    }
    copy_transposed_into(here, t);
  }

  MatrixView<T> a_;
  LuPivots& pivots_;
  std::vector<T> columns_;
};

}  // namespace

template <typename T>
LuPivots factor_lu(const MatrixView<T>& a) {
  LuPivots pivots;
  const int64_t square = std::min(a.rows, a.columns);
  pivots.swapped.resize(static_cast<size_t>(square));
  if (square == 0) return pivots;
  LuFactorization<T> factorization(a, pivots);
  factorization.run(0, square);
  if (a.columns > square) {
    factorization.swap_rows(0, square, square, a.columns);
    solve_triangular(Triangle<T>{a.block(0, 0, square, square), false, false, true},
                     a.block(0, square, square, a.columns - square));
  }
  return pivots;
}

template <typename T>
void apply_pivots(const LuPivots& pivots, const MatrixView<T>& b) {
  for (size_t i = 0; i < pivots.swapped.size(); ++i) {
    const auto here = static_cast<int64_t>(i);
    if (pivots.swapped[i] != here)
      std::swap_ranges(b.row(here), b.row(here) + b.columns, b.row(pivots.swapped[i]));
  }
}

template LuPivots factor_lu(const MatrixView<float>&);
template LuPivots factor_lu(const MatrixView<double>&);
template void apply_pivots(const LuPivots&, const MatrixView<float>&);
template void apply_pivots(const LuPivots&, const MatrixView<double>&);

}  // namespace kaiseki::linalg
