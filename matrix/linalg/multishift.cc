// SPDX-License-Identifier: MIT
#include "matrix/linalg/multishift.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "matrix/linalg/small_reflection.h"

namespace kaiseki::linalg {
namespace {

constexpr int64_t kSpacing = 3;  // rows from a bulge to the next one

/// A chain of bulges, one for each pair of shifts. It moves down the diagonal in windows. Inside a
/// window, reflections act one by one. The rest of the matrix receives their product.
template <typename T>
class BulgeChain {
 public:
  BulgeChain(const MatrixView<T>& h, const MatrixView<T>& qt, int64_t first, int64_t last)
      : h_(h), qt_(qt), first_(first), last_(last) {}

  void run(const std::vector<ShiftPair<T>>& shifts) {
    const auto count = static_cast<int64_t>(shifts.size());
    const int64_t length = kSpacing * count;
    next_.assign(shifts.size(), first_);
    open(first_, first_ + length + 1);
    for (int64_t i = 0; i < count; ++i) {
      start(shifts[i]);
      next_[i] = first_ + 1;
      chase(i);
    }
    close();
    while (next_.back() < last_) {
      const int64_t begin = next_.back() - 1;
      open(begin, begin + 2 * length + 1);
      for (int64_t i = 0; i < count; ++i) chase(i);
      close();
    }
  }

 private:
  void open(int64_t begin, int64_t end) {
    begin_ = begin;
    end_ = std::min(end, last_ + 1);
    u_.emplace(end_ - begin_, end_ - begin_);
    set_identity(u_->view());
  }
  void close() { transform_outside(h_, qt_, begin_, u_->view()); }

  /// The first column of (H - shift) (H - shift).
  void start(const ShiftPair<T>& shift) {
    const int64_t m = first_;
    const T here = h_(m, m), below = h_(m + 1, m), r = here - shift.a, s = here - shift.b;
    // Without this scale, squares could underflow.
    const T size = std::abs(s) + shift.imaginary + std::abs(below);
    if (size == 0) return;
    const T factor = below / size;
    const T x[3] = {
        r * (s / size) + shift.imaginary * (shift.imaginary / size) + h_(m, m + 1) * factor,
        factor * (h_(m + 1, m + 1) - shift.b + r), factor * h_(m + 2, m + 1)};
    Reflection3<T> f;
    make_reflection(x, f);
    reflect(m, 3, f);
  }

  /// Moves bulge i as far as the window and the bulges before it allow.
  void chase(int64_t i) {
    const int64_t end = end_ == last_ + 1 ? last_ : end_ - 3 - kSpacing * i;
    for (int64_t& k = next_[i]; k < end; ++k) {
      const int width = k == last_ - 1 ? 2 : 3;
      const T x[3] = {h_(k, k - 1), h_(k + 1, k - 1), width == 3 ? h_(k + 2, k - 1) : 0};
      Reflection3<T> f;
      h_(k, k - 1) = make_reflection(x, f);
      for (int j = 1; j < width; ++j) h_(k + j, k - 1) = 0;
      reflect(k, width, f);
    }
  }

  /// Rows and columns k to k + width - 1, inside the window.
  void reflect(int64_t k, int width, const Reflection3<T>& f) {
    const auto rows = kernels<T>().reflect_rows;
    const MatrixView<T> u = u_->view();
    const int64_t at = k - begin_;
    rows(end_ - k, f.v, f.w, h_.row(k) + k, h_.row(k + 1) + k,
         width == 3 ? h_.row(k + 2) + k : nullptr);
    rows(u.columns, f.v, f.w, u.row(at), u.row(at + 1), width == 3 ? u.row(at + 2) : nullptr);
    const int64_t last = std::min(end_ - 1, k + 3);
    for (int64_t i = begin_; i <= last; ++i) reflect_row(f, width, h_.row(i) + k);
  }

  MatrixView<T> h_, qt_;
  int64_t first_, last_;
  int64_t begin_ = 0, end_ = 0;  // of the window
  std::optional<Dense<T>> u_;    // the product of the window's reflections
  std::vector<int64_t> next_;    // the row where the bulge's next reflection begins
};

/// rows = u rows
template <typename T>
void multiply_left(const MatrixView<T>& u, const MatrixView<T>& rows) {
  if (rows.columns == 0) return;
  Dense<T> copy(rows.rows, rows.columns);
  copy_matrix_into(copy.view(), rows);
  multiply(1, Factor<T>{u}, Factor<T>{copy.view()}, 0, rows);
}

}  // namespace

template <typename T>
std::vector<ShiftPair<T>> shift_pairs(const MatrixView<T>& s) {
  std::vector<ShiftPair<T>> pairs;
  bool single = false;  // the last pair has one real value
  for (int64_t i = 0; i < s.rows; ++i) {
    const bool pair = i + 1 < s.rows && s(i + 1, i) != 0;
    if (pair) {
      const T half = (s(i, i) - s(i + 1, i + 1)) / 2, middle = s(i + 1, i + 1) + half;
      const T square = half * half + s(i + 1, i) * s(i, i + 1);
      pairs.insert(pairs.end() - (single ? 1 : 0),
                   {middle, middle, std::sqrt(std::max(-square, T(0)))});
      ++i;
    } else if (single) {
      pairs.back().b = s(i, i);
      single = false;
    } else {
      pairs.push_back({s(i, i), s(i, i), 0});
      single = true;
    }
  }
  return pairs;
}

template <typename T>
void multishift_sweep(const MatrixView<T>& h, const MatrixView<T>& qt, int64_t first, int64_t last,
                      const std::vector<ShiftPair<T>>& shifts) {
  BulgeChain<T>(h, qt, first, last).run(shifts);
}

template <typename T>
void transform_outside(const MatrixView<T>& h, const MatrixView<T>& qt, int64_t first,
                       const MatrixView<T>& u) {
  const int64_t size = u.rows, end = first + size;
  multiply_left(u, h.block(first, end, size, h.columns - end));
  multiply_left(u, qt.block(first, 0, size, qt.columns));
  if (first == 0) return;
  const MatrixView<T> above = h.block(0, first, first, size);
  Dense<T> copy(first, size);
  copy_matrix_into(copy.view(), above);
  multiply(1, Factor<T>{copy.view()}, Factor<T>{u, true}, 0, above);
}

#define KAISEKI_MULTISHIFT(T)                                                                  \
  template std::vector<ShiftPair<T>> shift_pairs(const MatrixView<T>&);                        \
  template void multishift_sweep(const MatrixView<T>&, const MatrixView<T>&, int64_t, int64_t, \
                                 const std::vector<ShiftPair<T>>&);                            \
  template void transform_outside(const MatrixView<T>&, const MatrixView<T>&, int64_t,         \
                                  const MatrixView<T>&);
KAISEKI_MULTISHIFT(float)
KAISEKI_MULTISHIFT(double)

}  // namespace kaiseki::linalg
