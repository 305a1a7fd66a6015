// SPDX-License-Identifier: MIT
// Back substitution in the real Schur form (EISPACK's hqr2).
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "matrix/linalg/hessenberg.h"
#include "matrix/linalg/kernels.h"
#include "matrix/threads.h"

namespace kaiseki::linalg {
namespace {

using Complex = std::complex<double>;

constexpr int64_t kVectors = 8;  // for one task

template <typename T>
class BackSubstitution {
 public:
  explicit BackSubstitution(const MatrixView<T>& s) : s_(s) {
    for (int64_t i = 0; i < s.rows; ++i)
      for (int64_t j = std::max<int64_t>(0, i - 1); j < s.rows; ++j)
        norm_ = std::max(norm_, std::abs(static_cast<double>(s(i, j))));
  }

  bool starts_pair(int64_t i) const { return i + 1 < s_.rows && s_(i + 1, i) != 0; }

  /// The eigenvalue with a positive imaginary part of the block of rows i and i + 1. Rounding must
  /// not make that part 0, which would mean two real values.
  Complex pair_value(int64_t i) const {
    const double p = (double(s_(i, i)) - s_(i + 1, i + 1)) / 2;
    const double q = p * p + double(s_(i + 1, i)) * s_(i, i + 1);
    return {s_(i + 1, i + 1) + p, std::sqrt(std::max(-q, std::numeric_limits<double>::min()))};
  }

  /// Sets the elements 0..last of the vector. `imaginary` is nullptr for a real value.
  void solve(int64_t last, Complex value, T* real, T* imaginary) const {
    int64_t next = last - 1;
    if (imaginary) {
      start_pair(last - 1, value, real, imaginary);
      --next;
    } else {
      real[last] = 1;
    }
    for (int64_t i = next; i >= 0; --i) {
      if (i > 0 && s_(i, i - 1) != 0) {
        --i;
        solve_block(i, last, value, real, imaginary);
      } else {
        const Complex x =
            divide(-row_sum(i, i + 1, last, real, imaginary), double(s_(i, i)) - value);
        set(i, x, last, real, imaginary);
      }
    }
  }

 private:
  void start_pair(int64_t i, Complex value, T* real, T* imaginary) const {
    const bool above = std::abs(s_(i, i + 1)) >= std::abs(s_(i + 1, i));
    const Complex other = above ? (value - double(s_(i, i))) / double(s_(i, i + 1))
                                : (value - double(s_(i + 1, i + 1))) / double(s_(i + 1, i));
    const int64_t one = above ? i : i + 1, rest = above ? i + 1 : i;
    real[one] = 1, imaginary[one] = 0;
    real[rest] = static_cast<T>(other.real());
    imaginary[rest] = static_cast<T>(other.imag());
  }

  Complex row_sum(int64_t i, int64_t first, int64_t last, const T* real, const T* imaginary) const {
    const auto dot = kernels<T>().dot;
    const int64_t n = last - first + 1;
    return {dot(n, s_.row(i) + first, real + first),
            imaginary ? dot(n, s_.row(i) + first, imaginary + first) : T(0)};
  }

  /// A divisor near 0 becomes as large as the rounding errors of S.
  Complex divide(Complex x, Complex by) const {
    const double least = std::max(std::numeric_limits<T>::epsilon() * norm_,
                                  static_cast<double>(std::numeric_limits<T>::min()));
    return x / (std::abs(by) < least ? Complex(least) : by);
  }

  /// a x + b y = p, c x + d y = q
  struct TwoEquations {
    Complex a, b, c, d, p, q;
  };
  void eliminate(const TwoEquations& e, Complex& x, Complex& y) const {
    const Complex factor = divide(e.c, e.a);
    y = divide(e.q - factor * e.p, e.d - factor * e.b);
    x = divide(e.p - e.b * y, e.a);
  }

  void solve_block(int64_t i, int64_t last, Complex value, T* real, T* imaginary) const {
    const Complex r0 = -row_sum(i, i + 2, last, real, imaginary);
    const Complex r1 = -row_sum(i + 1, i + 2, last, real, imaginary);
    const Complex a = double(s_(i, i)) - value, d = double(s_(i + 1, i + 1)) - value;
    const double b = s_(i, i + 1), c = s_(i + 1, i);
    // Elimination from the largest element: a block that is nearly singular has an accurate result.
    const double sizes[4] = {std::abs(a), std::abs(b), std::abs(c), std::abs(d)};
    Complex x0, x1;
    switch (std::max_element(sizes, sizes + 4) - sizes) {
      case 0:
        eliminate({a, b, c, d, r0, r1}, x0, x1);
        break;
      case 1:
        eliminate({b, a, d, c, r0, r1}, x1, x0);
        break;
      case 2:
        eliminate({c, d, a, b, r1, r0}, x0, x1);
        break;
      default:
        eliminate({d, c, b, a, r1, r0}, x1, x0);
        break;
    }
    set(i + 1, x1, last, real, imaginary);
    // The first may have scaled the vector.
    const double scale = std::abs(x1) > kLarge ? 1 / std::abs(x1) : 1;
    set(i, x0 * scale, last, real, imaginary);
  }

  /// Scales the whole vector if the element is so large that later ones could overflow.
  void set(int64_t i, Complex x, int64_t last, T* real, T* imaginary) const {
    const double size = std::abs(x);
    if (size > kLarge) {
      for (int64_t j = i + 1; j <= last; ++j) {
        real[j] = static_cast<T>(real[j] / size);
        if (imaginary) imaginary[j] = static_cast<T>(imaginary[j] / size);
      }
      x /= size;
    }
    real[i] = static_cast<T>(x.real());
    if (imaginary) imaginary[i] = static_cast<T>(x.imag());
  }

  static constexpr double kLarge = 1e10;
  MatrixView<T> s_;
  double norm_ = 0;
};

}  // namespace

template <typename T>
SchurEigen<T> schur_eigen(const MatrixView<T>& s, const MatrixView<T>& vectors) {
  const int64_t n = s.rows;
  SchurEigen<T> result;
  result.real.resize(static_cast<size_t>(n));
  result.imaginary.resize(static_cast<size_t>(n));
  const BackSubstitution<T> substitution(s);
  for (int64_t i = 0; i < n; ++i) {
    std::fill_n(vectors.row(i), n, T(0));
    result.real[i] = s(i, i);
    if (!substitution.starts_pair(i)) continue;
    const Complex value = substitution.pair_value(i);
    result.real[i] = result.real[i + 1] = value.real();
    result.imaginary[i] = value.imag();
    result.imaginary[i + 1] = -value.imag();
    std::fill_n(vectors.row(++i), n, T(0));
  }
  parallel_for(n, kVectors, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (i > 0 && s(i, i - 1) != 0) continue;  // belongs to the pair before
      const Complex value{result.real[i], result.imaginary[i]};
      if (substitution.starts_pair(i))
        substitution.solve(i + 1, value, vectors.row(i), vectors.row(i + 1));
      else
        substitution.solve(i, value, vectors.row(i), nullptr);
    }
  });
  return result;
}

template SchurEigen<float> schur_eigen(const MatrixView<float>&, const MatrixView<float>&);
template SchurEigen<double> schur_eigen(const MatrixView<double>&, const MatrixView<double>&);

}  // namespace kaiseki::linalg
