// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>

#include "matrix/linalg/early_deflation.h"
#include "matrix/linalg/hessenberg.h"
#include "matrix/linalg/kernels.h"
#include "matrix/linalg/small_reflection.h"

namespace kaiseki::linalg {
namespace {

constexpr int64_t kMaxSweeps = 30;  // times the rows, in all; about two for each are usual
constexpr int64_t kManyRows = 256;  // of a block, for many shifts at once
constexpr int64_t kCorner = 64, kManyFound = 8, kShiftPairs = 16;
// After as many sweeps without convergence, one has other shifts, from the bottom and the top by
// turns.
constexpr int kExceptionalSweeps = 10;

template <typename T>
class SchurReduction {
 public:
  SchurReduction(const MatrixView<T>& h, const MatrixView<T>& qt) : h_(h), qt_(qt) {
    for (int64_t i = 0; i < h.rows; ++i)
      for (int64_t j = std::max<int64_t>(0, i - 1); j < h.rows; ++j)
        norm_ = std::max(norm_, std::abs(h(i, j)));
    noise_ = std::sqrt(std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon()) * norm_;
    reflections_.resize(static_cast<size_t>(h.rows));
  }

  bool run() {
    int64_t left = kMaxSweeps * std::max<int64_t>(10, h_.rows);
    int64_t last = h_.rows - 1;
    for (int sweeps = 0; last >= 0;) {
      const int64_t first = start_of_block(last);
      if (first == last) {
        --last;
      } else if (first == last - 1) {
        split_pair(first);
        last -= 2;
      } else {
        if (left-- == 0) return false;
        if (++sweeps % kExceptionalSweeps == 0)
          sweep(first, last,
                exceptional_shifts(first, last, sweeps % (2 * kExceptionalSweeps) == 0));
        else if (last - first < kManyRows)
          sweep(first, last, corner_shifts(last));
        else
          step(first, last);
        continue;
      }
      sweeps = 0;
    }
    return true;
  }

 private:
  /// A step for a block of many rows.
  void step(int64_t first, int64_t last) {
    EarlyDeflation<T> found = deflate_early(h_, qt_, last + 1 - kCorner, last + 1);
    // Many found eigenvalues cost less than a sweep would.
    if (found.count >= kManyFound) return;
    std::vector<ShiftPair<T>>& shifts = found.shifts;
    if (shifts.empty()) return sweep(first, last, corner_shifts(last));
    if (shifts.size() > kShiftPairs) shifts.erase(shifts.begin(), shifts.end() - kShiftPairs);
    multishift_sweep(h_, qt_, first, last - found.count, shifts);
  }

  int64_t start_of_block(int64_t last) const {
    for (int64_t i = last; i > 0; --i) {
      T size = std::abs(h_(i - 1, i - 1)) + std::abs(h_(i, i));
      if (size == 0) size = norm_;
      if (std::abs(h_(i, i - 1)) <= std::max(std::numeric_limits<T>::epsilon() * size, noise_)) {
        h_(i, i - 1) = 0;
        return i;
      }
    }
    return 0;
  }

  /// Makes the block of rows i and i + 1 triangular if its eigenvalues are real.
  void split_pair(int64_t i) {
    const int64_t n = h_.rows, j = i + 1;
    const T p = (h_(i, i) - h_(j, j)) / 2, below = h_(j, i);
    const T q = p * p + below * h_(i, j);
    if (q < 0) return;
    const T z = p + std::copysign(std::sqrt(q), p), length = std::hypot(z, below);
    if (length == 0) return;
    const T c = z / length, s = below / length;
    kernels<T>().rotate(n - i, c, s, h_.row(i) + i, h_.row(j) + i);
    for (int64_t r = 0; r <= j; ++r) {
      const T a = h_(r, i), b = h_(r, j);
      h_(r, i) = c * a + s * b;
      h_(r, j) = c * b - s * a;
    }
    kernels<T>().rotate(qt_.columns, c, s, qt_.row(i), qt_.row(j));
    h_(j, i) = 0;
  }

  /// The first column of (H - shift) (H - conjugate shift), from a row where H nearly decouples.
  struct Start {
    int64_t row;
    T vector[3];
  };

  /// The shifts are the eigenvalues of [[x, v], [u, y]] with u v = w.
  struct Shifts {
    T x, y, w;
  };
  Shifts corner_shifts(int64_t last) const {
    return {h_(last, last), h_(last - 1, last - 1), h_(last, last - 1) * h_(last - 1, last)};
  }
  Shifts exceptional_shifts(int64_t first, int64_t last, bool top) const {
    const int64_t i = top ? first + 2 : last;
    const T s = std::abs(h_(i, i - 1)) + std::abs(h_(i - 1, i - 2));
    const T x = h_(top ? first : last, top ? first : last) + T(0.75) * s;
    return {x, x, T(-0.4375) * s * s};
  }

  Start find_start(int64_t first, int64_t last, const Shifts& shifts) const {
    const auto [x, y, w] = shifts;
    Start start{last - 2, {}};
    for (;; --start.row) {
      const int64_t m = start.row;
      const T here = h_(m, m), r = x - here, s = y - here;
      T* v = start.vector;
      v[0] = (r * s - w) / h_(m + 1, m) + h_(m, m + 1);
      v[1] = h_(m + 1, m + 1) - here - r - s;
      v[2] = h_(m + 2, m + 1);
      const T size = std::abs(v[0]) + std::abs(v[1]) + std::abs(v[2]);
      for (int i = 0; i < 3; ++i) v[i] /= size;
      if (m == first) return start;
      const T left = std::abs(h_(m, m - 1)) * (std::abs(v[1]) + std::abs(v[2]));
      const T right = std::abs(v[0]) *
                      (std::abs(h_(m - 1, m - 1)) + std::abs(here) + std::abs(h_(m + 1, m + 1)));
      if (left <= std::numeric_limits<T>::epsilon() * right) return start;
    }
  }

  void sweep(int64_t first, int64_t last, const Shifts& shifts) {
    const Kernels<T>& kernel = kernels<T>();
    const Start start = find_start(first, last, shifts);
    const int64_t m = start.row, n = h_.rows;
    for (int64_t i = m + 2; i <= last; ++i) {
      h_(i, i - 2) = 0;
      if (i > m + 2) h_(i, i - 3) = 0;
    }
    for (int64_t k = m; k < last; ++k) {
      const int width = k == last - 1 ? 2 : 3;
      Reflection3<T>& f = reflections_[k];
      T v[3] = {start.vector[0], start.vector[1], start.vector[2]};
      if (k != m)
        for (int i = 0; i < 3; ++i) v[i] = i < width ? h_(k + i, k - 1) : 0;
      const T result = make_reflection(v, f);
      if (k != m) {
        h_(k, k - 1) = result;
        for (int i = 1; i < width; ++i) h_(k + i, k - 1) = 0;
      } else if (first != m) {
        h_(k, k - 1) = -h_(k, k - 1);
      }
      T* rows[3] = {h_.row(k) + k, h_.row(k + 1) + k, width == 3 ? h_.row(k + 2) + k : nullptr};
      kernel.reflect_rows(n - k, f.v, f.w, rows[0], rows[1], rows[2]);
      T* vectors[3] = {qt_.row(k), qt_.row(k + 1), width == 3 ? qt_.row(k + 2) : nullptr};
      kernel.reflect_rows(qt_.columns, f.w, f.v, vectors[0], vectors[1], vectors[2]);
      // The rows that the next steps read. The rows above them wait.
      for (int64_t i = k + 1; i <= std::min(last, k + 3); ++i) reflect_row(f, width, h_.row(i) + k);
    }
    reflect_rows_above(m, last);
  }

  /// Multiplies each row i < last from the right by the reflections max(i, m) to last - 1.
  void reflect_rows_above(int64_t m, int64_t last) const {
    const int64_t group = kernels<T>().reflected_rows;
    for (int64_t i = 0; i < last; i += group) {
      const int64_t end = std::min(i + group, last);
      // From here on, all rows of the group have the same reflections.
      const int64_t common = std::max(m, std::min(end - 1, last - 1));
      for (int64_t r = i; r < end; ++r)
        for (int64_t k = std::max(r, m); k < common; ++k)
          reflect_row(reflections_[k], 3, h_.row(r) + k);
      if (end - i == group && last - 1 > common) {
        kernels<T>().reflect_columns(last - 1 - common, reflections_.data() + common,
                                     h_.row(i) + common, h_.ld);
      } else {
        for (int64_t r = i; r < end; ++r)
          for (int64_t k = common; k < last - 1; ++k)
            reflect_row(reflections_[k], 3, h_.row(r) + k);
      }
      for (int64_t r = i; r < end; ++r)
        reflect_row(reflections_[last - 1], 2, h_.row(r) + last - 1);
    }
  }

  MatrixView<T> h_, qt_;
  // Squares of elements below `noise_` lose digits to underflow.
  T norm_ = 0, noise_ = 0;
  std::vector<Reflection3<T>> reflections_;
};

}  // namespace

template <typename T>
bool reduce_to_schur(const MatrixView<T>& h, const MatrixView<T>& qt) {
  return SchurReduction<T>(h, qt).run();
}

template bool reduce_to_schur(const MatrixView<float>&, const MatrixView<float>&);
template bool reduce_to_schur(const MatrixView<double>&, const MatrixView<double>&);

}  // namespace kaiseki::linalg
