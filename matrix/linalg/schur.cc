// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>

#include "matrix/linalg/hessenberg.h"
#include "matrix/linalg/kernels.h"

namespace kaiseki::linalg {
namespace {

constexpr int kMaxSweeps = 90;          // per eigenvalue; about two are usual
constexpr int kExceptionalSweeps = 10;  // with other shifts after as many without convergence

template <typename T>
class SchurReduction {
 public:
  SchurReduction(const MatrixView<T>& h, const MatrixView<T>& qt) : h_(h), qt_(qt) {
    for (int64_t i = 0; i < h.rows; ++i)
      for (int64_t j = std::max<int64_t>(0, i - 1); j < h.rows; ++j)
        norm_ = std::max(norm_, std::abs(h(i, j)));
    reflections_.resize(static_cast<size_t>(h.rows));
  }

  bool run() {
    int64_t last = h_.rows - 1;
    for (int sweeps = 0; last >= 0;) {
      const int64_t first = start_of_block(last);
      if (first == last) {
        --last;
      } else if (first == last - 1) {
        split_pair(first);
        last -= 2;
      } else {
        if (sweeps++ == kMaxSweeps) return false;
        sweep(first, last, sweeps % kExceptionalSweeps == 0);
        continue;
      }
      sweeps = 0;
    }
    return true;
  }

 private:
  int64_t start_of_block(int64_t last) const {
    for (int64_t i = last; i > 0; --i) {
      T size = std::abs(h_(i - 1, i - 1)) + std::abs(h_(i, i));
      if (size == 0) size = norm_;
      if (std::abs(h_(i, i - 1)) <= std::numeric_limits<T>::epsilon() * size) {
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
    kernels<T>().rotate(n, c, s, qt_.row(i), qt_.row(j));
    h_(j, i) = 0;
  }

  /// The first column of (H - shift) (H - conjugate shift), from a row where H nearly decouples.
  struct Start {
    int64_t row;
    T vector[3];
  };

  Start find_start(int64_t first, int64_t last, bool exceptional) const {
    T x = h_(last, last), y = h_(last - 1, last - 1), w = h_(last, last - 1) * h_(last - 1, last);
    if (exceptional) {
      const T s = std::abs(h_(last, last - 1)) + std::abs(h_(last - 1, last - 2));
      x = y = h_(last, last) + T(0.75) * s;
      w = T(-0.4375) * s * s;
    }
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

  void sweep(int64_t first, int64_t last, bool exceptional) {
    const Kernels<T>& kernel = kernels<T>();
    const Start start = find_start(first, last, exceptional);
    const int64_t m = start.row, n = h_.rows;
    for (int64_t i = m + 2; i <= last; ++i) {
      h_(i, i - 2) = 0;
      if (i > m + 2) h_(i, i - 3) = 0;
    }
    for (int64_t k = m; k < last; ++k) {
      const int width = k == last - 1 ? 2 : 3;
      Reflection3<T>& f = reflections_[k];
      f = {};
      T v[3] = {start.vector[0], start.vector[1], start.vector[2]}, size = 1;
      if (k != m) {
        for (int i = 0; i < 3; ++i) v[i] = i < width ? h_(k + i, k - 1) : 0;
        size = std::abs(v[0]) + std::abs(v[1]) + std::abs(v[2]);
        if (size == 0) continue;
        for (T& value : v) value /= size;
      }
      const T s = std::copysign(std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), v[0]);
      if (k != m) {
        h_(k, k - 1) = -s * size;
        for (int i = 1; i < width; ++i) h_(k + i, k - 1) = 0;
      } else if (first != m) {
        h_(k, k - 1) = -h_(k, k - 1);
      }
      // I - v w^T with v = (1, ...)
      const T p = v[0] + s;
      f = {{1, v[1] / p, v[2] / p}, {p / s, v[1] / s, v[2] / s}};
      T* rows[3] = {h_.row(k) + k, h_.row(k + 1) + k, width == 3 ? h_.row(k + 2) + k : nullptr};
      kernel.reflect_rows(n - k, f.v, f.w, rows[0], rows[1], rows[2]);
      T* vectors[3] = {qt_.row(k), qt_.row(k + 1), width == 3 ? qt_.row(k + 2) : nullptr};
      kernel.reflect_rows(n, f.w, f.v, vectors[0], vectors[1], vectors[2]);
      // The rows that the next steps read. The rows above them wait.
      for (int64_t i = k + 1; i <= std::min(last, k + 3); ++i) reflect_row(i, k, width);
    }
    reflect_rows_above(m, last);
  }

  void reflect_row(int64_t i, int64_t k, int width) const {
    const Reflection3<T>& f = reflections_[k];
    T* row = h_.row(i) + k;
    T sum = 0;
    for (int j = 0; j < width; ++j) sum += f.w[j] * row[j];
    for (int j = 0; j < width; ++j) row[j] -= sum * f.v[j];
  }

  /// Multiplies each row i < last from the right by the reflections max(i, m) to last - 1.
  void reflect_rows_above(int64_t m, int64_t last) const {
    const int64_t group = kernels<T>().reflected_rows;
    for (int64_t i = 0; i < last; i += group) {
      const int64_t end = std::min(i + group, last);
      // From here on, all rows of the group have the same reflections.
      const int64_t common = std::max(m, std::min(end - 1, last - 1));
      for (int64_t r = i; r < end; ++r)
        for (int64_t k = std::max(r, m); k < common; ++k) reflect_row(r, k, 3);
      if (end - i == group && last - 1 > common) {
        kernels<T>().reflect_columns(last - 1 - common, reflections_.data() + common,
                                     h_.row(i) + common, h_.ld);
      } else {
        for (int64_t r = i; r < end; ++r)
          for (int64_t k = common; k < last - 1; ++k) reflect_row(r, k, 3);
      }
      for (int64_t r = i; r < end; ++r) reflect_row(r, last - 1, 2);
    }
  }

  MatrixView<T> h_, qt_;
  T norm_ = 0;
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
