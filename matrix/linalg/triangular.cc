// SPDX-License-Identifier: MIT
// Splits the triangle in halves, so that most of the work is in matrix products.
#include "matrix/linalg/triangular.h"

#include "matrix/ceil_div.h"
#include "matrix/linalg/kernels.h"
#include "matrix/threads.h"

namespace kaiseki::linalg {
namespace {

constexpr int64_t kLeaf = SmallTriangle<float>::kMaxRows;
constexpr int64_t kLeafColumns = 512;  // of B, for one task

template <typename T>
void solve_leaf(const Triangle<T>& a, const MatrixView<T>& b) {
  const int64_t n = b.rows, row = a.transposed ? 1 : a.matrix.ld,
                column = a.transposed ? a.matrix.ld : 1;
  const int64_t last = n - 1;
  const SmallTriangle<T> l =
      a.upper ? SmallTriangle<T>{a.matrix.data + last * (row + column), n, -row, -column, a.unit}
              : SmallTriangle<T>{a.matrix.data, n, row, column, a.unit};
  T* first = a.upper ? b.row(last) : b.data;
  const int64_t step = a.upper ? -b.ld : b.ld;
  parallel_for(b.columns, kLeafColumns, [&](int64_t begin, int64_t end) {
    kernels<T>().solve_lower(l, end - begin, first + begin, step);
  });
}

}  // namespace

template <typename T>
void solve_triangular(const Triangle<T>& a, const MatrixView<T>& b) {
  const int64_t n = b.rows;
  if (n == 0 || b.columns == 0) return;
  if (n <= kLeaf) return solve_leaf(a, b);
  const int64_t half = round_up(n / 2, kLeaf), rest = n - half;
  const auto part = [&](int64_t at, int64_t size) {
    Triangle<T> diagonal = a;
    diagonal.matrix = a.matrix.block(at, at, size, size);
    return diagonal;
  };
  const MatrixView<T> top = b.block(0, 0, half, b.columns);
  const MatrixView<T> bottom = b.block(half, 0, rest, b.columns);
  const bool stored_upper = a.upper != a.transposed;
  const Factor<T> off{
      stored_upper ? a.matrix.block(0, half, half, rest) : a.matrix.block(half, 0, rest, half),
      a.transposed};
  if (a.upper) {
    solve_triangular(part(half, rest), bottom);
    multiply(-1, off, Factor<T>{bottom}, 1, top);
    solve_triangular(part(0, half), top);
  } else {
    solve_triangular(part(0, half), top);
    multiply(-1, off, Factor<T>{top}, 1, bottom);
    solve_triangular(part(half, rest), bottom);
  }
}

template void solve_triangular(const Triangle<float>&, const MatrixView<float>&);
template void solve_triangular(const Triangle<double>&, const MatrixView<double>&);

}  // namespace kaiseki::linalg
