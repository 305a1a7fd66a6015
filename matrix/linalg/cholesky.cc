// SPDX-License-Identifier: MIT
#include "matrix/linalg/cholesky.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "matrix/ceil_div.h"
#include "matrix/linalg/batch.h"
#include "matrix/linalg/device_factors.h"
#include "matrix/linalg/factor_cholesky.h"
#include "matrix/linalg/triangular.h"
#include "matrix/threads.h"

namespace kaiseki {

using namespace linalg;

namespace {

constexpr int64_t kPanel = 128;         // columns of L that are factored together
constexpr int64_t kPanelRows = kPanel;  // of the panel, for one task
constexpr int64_t kDiagonal = 64;       // half of a product of this size is above the diagonal

/// Begin and end of part `index` of the rows.
std::pair<int64_t, int64_t> part_of(int64_t rows, int64_t index) {
  return {index * kPanelRows, std::min(rows, (index + 1) * kPanelRows)};
}

/// The rows of the panel below its triangle: U^T U is the triangle's matrix. `across` receives the
/// transposed result.
template <typename T>
void solve_panel(const MatrixView<T>& u, const MatrixView<T>& panel, const MatrixView<T>& across) {
  parallel_for(ceil_div(panel.rows, kPanelRows), 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const auto [begin, end] = part_of(panel.rows, i);
      const MatrixView<T> rows = panel.block(begin, 0, end - begin, panel.columns);
      const MatrixView<T> columns = across.block(0, begin, panel.columns, end - begin);
      copy_transposed_into(columns, rows);
      solve_triangular(Triangle<T>{u, true, false, false}, columns);
      copy_transposed_into(rows, columns);
    }
  });
}

/// The lower triangle of C -= across^T across. Writes above the diagonal only in the squares of
/// kPanelRows on it, which later panels clear.
template <typename T>
void subtract_panel(const MatrixView<T>& across, const MatrixView<T>& c) {
  const int64_t parts = ceil_div(c.rows, kPanelRows);
  const auto subtract = [&](int64_t begin, int64_t end, int64_t from, int64_t to) {
    const MatrixView<T> left = across.block(0, begin, across.rows, end - begin);
    const MatrixView<T> right = across.block(0, from, across.rows, to - from);
    multiply(-1, Factor<T>{left, true}, Factor<T>{right}, 1,
             c.block(begin, from, end - begin, to - from));
  };
  parallel_for(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      // Long and short rows alternate, so that the threads have equal work.
      const auto [begin, end] = part_of(c.rows, i % 2 ? i / 2 : parts - 1 - i / 2);
      const int64_t middle = std::min(end, begin + kDiagonal);
      subtract(begin, end, 0, middle);
      if (middle < end) subtract(middle, end, middle, end);
    }
  });
}

/// Copies the lower triangle of `l` to the upper triangle of `u`, and perhaps more, or back.
template <typename T>
void transpose_triangle(const MatrixView<T>& l, const MatrixView<T>& u, bool back) {
  for (int64_t i = 0; i < l.rows; i += kDiagonal) {
    const int64_t height = std::min(kDiagonal, l.rows - i), width = i + height;
    const MatrixView<T> rows = l.block(i, 0, height, width), columns = u.block(0, i, width, height);
    if (back)
      copy_transposed_into(rows, columns);
    else
      copy_transposed_into(columns, rows);
  }
}

/// Sets the elements above the diagonal to 0.
template <typename T>
void clear_above(const MatrixView<T>& a) {
  for (int64_t i = 0; i < a.rows; ++i) std::fill_n(a.row(i) + i + 1, a.columns - i - 1, T(0));
}

/// A = L L^T in place. Reads only the lower triangle. The elements above it have to be 0. Returns
/// the first column whose pivot is not positive, if there is one.
template <typename T>
std::optional<int64_t> factor_lower(const MatrixView<T>& a) {
  const int64_t n = a.rows;
  std::vector<T> storage(static_cast<size_t>(std::min(kPanel, n) * n));
  for (int64_t at = 0; at < n; at += kPanel) {
    const int64_t width = std::min(kPanel, n - at), rest = n - at - width;
    const MatrixView<T> corner = a.block(at, at, width, width);
    const MatrixView<T> u{storage.data(), width, width, width};
    transpose_triangle(corner, u, false);
    const auto failed = factor_cholesky(u);
    transpose_triangle(corner, u, true);
    clear_above(corner);
    if (failed) return at + *failed;
    if (rest == 0) break;
    const MatrixView<T> across{u.data + width * width, width, rest, rest};
    solve_panel(u, a.block(at + width, at, rest, width), across);
    subtract_panel(across, a.block(at + width, at + width, rest, rest));
  }
  return std::nullopt;
}

/// Copies the lower triangle, and sets the elements above it to 0. Reads memory once: also checks
/// all elements. Returns whether they are finite.
template <typename T>
bool copy_lower(const MatrixView<const T>& from, const MatrixView<T>& to) {
  bool finite = true;
  for (int64_t i = 0; i < from.rows; ++i) {
    finite = all_finite(from.columns, from.row(i)) && finite;
    std::copy_n(from.row(i), i + 1, to.row(i));
    std::fill_n(to.row(i) + i + 1, to.columns - i - 1, T(0));
  }
  return finite;
}

LinearAlgebraError not_positive(double pivot, int64_t column, const std::string& place) {
  return LinearAlgebraError(message("cholesky",
                                    "expected a positive definite matrix, got a pivot of ", pivot,
                                    " in column ", column, place));
}

}  // namespace

Tensor cholesky(const Tensor& a) {
  check_square(a, "cholesky");
  if (factors_on_device(a, "cholesky")) {
    check_finite_on_device(a, "cholesky");
    const DeviceCholesky result = cholesky_on_device(a);
    if (result.failed) throw not_positive(result.failed->value, result.failed->column, "");
    return result.l;
  }
  const Tensor host = unchecked_matrices(a, "cholesky");
  Tensor result(host.shape(), host.dtype(), Device::cpu());
  with_type(host, [&](auto zero) {
    using T = decltype(zero);
    const auto from = read_matrices<T>(host);
    const auto to = write_matrices<T>(result);
    for_each_matrix(host, [&](int64_t index) {
      const MatrixView<T> l = to[index];
      if (!copy_lower(from[index], l)) throw not_finite("cholesky");
      if (const auto column = factor_lower(l))
        throw not_positive(l(*column, *column), *column, in_batch(host, index));
    });
  });
  return result.to(a.device());
}

}  // namespace kaiseki
