// SPDX-License-Identifier: MIT
#include "matrix/linalg/kernels.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/linalg/kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kaiseki::linalg::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using Tag = hn::ScalableTag<T>;
template <typename T>
using Vec = hn::Vec<Tag<T>>;
template <typename T>
constexpr int64_t kLanes = hn::MaxLanes(Tag<T>());

template <typename T>
T dot(int64_t n, const T* HWY_RESTRICT x, const T* HWY_RESTRICT y) {
  const Tag<T> d;
  constexpr int64_t lanes = kLanes<T>;
  Vec<T> s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, x + i + lanes), hn::LoadU(d, y + i + lanes), s1);
    s2 = hn::MulAdd(hn::LoadU(d, x + i + 2 * lanes), hn::LoadU(d, y + i + 2 * lanes), s2);
    s3 = hn::MulAdd(hn::LoadU(d, x + i + 3 * lanes), hn::LoadU(d, y + i + 3 * lanes), s3);
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), s0);
  T total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) total += x[i] * y[i];
  return total;
}

template <typename T>
void add_scaled(int64_t n, T a, const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  const Tag<T> d;
  constexpr int64_t lanes = kLanes<T>;
  const Vec<T> scale = hn::Set(d, a);
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    hn::StoreU(hn::MulAdd(scale, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
    hn::StoreU(hn::MulAdd(scale, hn::LoadU(d, x + i + lanes), hn::LoadU(d, y + i + lanes)), d,
               y + i + lanes);
  }
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::MulAdd(scale, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  for (; i < n; ++i) y[i] += a * x[i];
}

template <typename T>
int64_t largest(int64_t n, const T* x) {
  const Tag<T> d;
  constexpr int64_t lanes = kLanes<T>;
  int64_t best = 0;
  T size = std::abs(x[0]);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto larger = hn::Gt(hn::Abs(hn::LoadU(d, x + i)), hn::Set(d, size));
    if (hn::AllFalse(d, larger)) continue;
    for (int64_t j = i; j < i + lanes; ++j)
      if (std::abs(x[j]) > size) size = std::abs(x[j]), best = j;
  }
  for (; i < n; ++i)
    if (std::abs(x[i]) > size) size = std::abs(x[i]), best = i;
  return best;
}

/// kRows rows from `row` on: their elements from column row + kRows on.
template <int kRows, typename T>
HWY_INLINE void symmetric_rows(int64_t n, int64_t row, const T* HWY_RESTRICT a, int64_t lda,
                               const T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  const Tag<T> d;
  constexpr int64_t lanes = kLanes<T>;
  const T* first = a + row * lda;
  Vec<T> sum[kRows], left[kRows];
  T rest[kRows] = {};
  for (int r = 0; r < kRows; ++r) {
    sum[r] = hn::Zero(d);
    left[r] = hn::Set(d, x[row + r]);
  }
  int64_t j = row + kRows;
  for (; j + lanes <= n; j += lanes) {
    const Vec<T> right = hn::LoadU(d, x + j);
    Vec<T> out = hn::LoadU(d, y + j);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const Vec<T> v = hn::LoadU(d, first + r * lda + j);
      sum[r] = hn::MulAdd(v, right, sum[r]);
      out = hn::MulAdd(v, left[r], out);
    }
    hn::StoreU(out, d, y + j);
  }
  for (; j < n; ++j)
    for (int r = 0; r < kRows; ++r) {
      rest[r] += first[r * lda + j] * x[j];
      y[j] += first[r * lda + j] * x[row + r];
    }
  for (int r = 0; r < kRows; ++r) {
    y[row + r] += hn::GetLane(hn::SumOfLanes(d, sum[r])) + rest[r];
    for (int c = r; c < kRows; ++c) {
      y[row + r] += first[r * lda + row + c] * x[row + c];
      if (c > r) y[row + c] += first[r * lda + row + c] * x[row + r];
    }
  }
}

template <typename T>
void multiply_symmetric(int64_t n, int64_t begin, int64_t end, const T* a, int64_t lda, const T* x,
                        T* y) {
  int64_t i = begin;
  for (; i + 4 <= end; i += 4) symmetric_rows<4>(n, i, a, lda, x, y);
  for (; i < end; ++i) symmetric_rows<1>(n, i, a, lda, x, y);
}

/// Rows i to i + kRows - 1 of the solution. The rows before them are solved.
template <int kRows, int kVectors, typename T>
HWY_INLINE void solve_rows(const SmallTriangle<T>& l, int64_t i, T* b, int64_t ldb) {
  const Tag<T> d;
  const auto factor = [&](int64_t r, int64_t p) {
    return hn::Set(d, l.data[(i + r) * l.row + p * l.column]);
  };
  Vec<T> value[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v)
      value[r][v] = hn::LoadU(d, b + (i + r) * ldb + v * kLanes<T>);
  for (int64_t p = 0; p < i; ++p) {
    Vec<T> solved[kVectors];
    for (int v = 0; v < kVectors; ++v) solved[v] = hn::LoadU(d, b + p * ldb + v * kLanes<T>);
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
      const Vec<T> f = factor(r, p);
      for (int v = 0; v < kVectors; ++v) value[r][v] = hn::NegMulAdd(f, solved[v], value[r][v]);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      if (!l.unit) value[r][v] = hn::Div(value[r][v], factor(r, i + r));
      hn::StoreU(value[r][v], d, b + (i + r) * ldb + v * kLanes<T>);
      for (int s = r + 1; s < kRows; ++s)
        value[s][v] = hn::NegMulAdd(factor(s, i + r), value[r][v], value[s][v]);
    }
}

template <int kVectors, typename T>
HWY_INLINE void solve_columns(const SmallTriangle<T>& l, T* b, int64_t ldb) {
  int64_t i = 0;
  for (; i + 4 <= l.n; i += 4) solve_rows<4, kVectors>(l, i, b, ldb);
  for (; i < l.n; ++i) solve_rows<1, kVectors>(l, i, b, ldb);
}

template <typename T>
void solve_lower(const SmallTriangle<T>& l, int64_t columns, T* b, int64_t ldb) {
  constexpr int64_t lanes = kLanes<T>;
  int64_t j = 0;
  for (; j + 2 * lanes <= columns; j += 2 * lanes) solve_columns<2>(l, b + j, ldb);
  for (; j + lanes <= columns; j += lanes) solve_columns<1>(l, b + j, ldb);
  if (j == columns) return;
  // The rest is less than a vector, and another thread may write after it.
  T rest[SmallTriangle<T>::kMaxRows * lanes] = {};
  const int64_t width = columns - j;
  for (int64_t i = 0; i < l.n; ++i) std::copy_n(b + i * ldb + j, width, rest + i * lanes);
  solve_columns<1>(l, rest, lanes);
  for (int64_t i = 0; i < l.n; ++i) std::copy_n(rest + i * lanes, width, b + i * ldb + j);
}

template <int kVectors, typename T>
HWY_INLINE void subtract_products(int64_t i, int64_t j, T* a, int64_t lda) {
  const Tag<T> d;
  T* row = a + i * lda + j;
  Vec<T> value[kVectors];
  for (int v = 0; v < kVectors; ++v) value[v] = hn::LoadU(d, row + v * kLanes<T>);
  for (int64_t p = 0; p < i; ++p) {
    const Vec<T> factor = hn::Set(d, a[p * lda + i]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      value[v] = hn::NegMulAdd(factor, hn::LoadU(d, a + p * lda + j + v * kLanes<T>), value[v]);
  }
  for (int v = 0; v < kVectors; ++v) hn::StoreU(value[v], d, row + v * kLanes<T>);
}

// Goes from right to left. The last vector may begin before column i.
template <typename T>
void subtract_row_product(int64_t n, int64_t i, T* a, int64_t lda) {
  constexpr int64_t lanes = kLanes<T>;
  int64_t j = n;
  while (j > i + lanes && j >= 4 * lanes) subtract_products<4>(i, j -= 4 * lanes, a, lda);
  while (j > i && j >= lanes) subtract_products<1>(i, j -= lanes, a, lda);
  for (int64_t c = i; c < j; ++c)
    for (int64_t p = 0; p < i; ++p) a[i * lda + c] -= a[p * lda + i] * a[p * lda + c];
}

template <typename T>
void rotate(int64_t n, T c, T s, T* HWY_RESTRICT x, T* HWY_RESTRICT y) {
  const Tag<T> d;
  constexpr int64_t lanes = kLanes<T>;
  const Vec<T> vc = hn::Set(d, c), vs = hn::Set(d, s);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Vec<T> a = hn::LoadU(d, x + i), b = hn::LoadU(d, y + i);
    hn::StoreU(hn::MulAdd(vc, a, hn::Mul(vs, b)), d, x + i);
    hn::StoreU(hn::NegMulAdd(vs, a, hn::Mul(vc, b)), d, y + i);
  }
  for (; i < n; ++i) {
    const T a = x[i], b = y[i];
    x[i] = c * a + s * b;
    y[i] = c * b - s * a;
  }
}

PoleSums pole_sums(int64_t n, const double* poles, const double* z, double origin, double x) {
  const Tag<double> d;
  constexpr int64_t lanes = kLanes<double>;
  const Vec<double> from = hn::Set(d, origin), at = hn::Set(d, x);
  Vec<double> sum = hn::Zero(d), derivative = sum;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Vec<double> v = hn::LoadU(d, z + i);
    const Vec<double> ratio = hn::Div(v, hn::Sub(hn::Sub(hn::LoadU(d, poles + i), from), at));
    sum = hn::MulAdd(v, ratio, sum);
    derivative = hn::MulAdd(ratio, ratio, derivative);
  }
  PoleSums result{hn::GetLane(hn::SumOfLanes(d, sum)), hn::GetLane(hn::SumOfLanes(d, derivative))};
  for (; i < n; ++i) {
    const double ratio = z[i] / ((poles[i] - origin) - x);
    result.sum += z[i] * ratio;
    result.derivative += ratio * ratio;
  }
  return result;
}

template <typename T>
void reflect_rows(int64_t n, const T* v, const T* w, T* HWY_RESTRICT a, T* HWY_RESTRICT b,
                  T* HWY_RESTRICT c) {
  const Tag<T> d;
  constexpr int64_t lanes = kLanes<T>;
  const Vec<T> v0 = hn::Set(d, v[0]), v1 = hn::Set(d, v[1]), v2 = hn::Set(d, v[2]);
  const Vec<T> w0 = hn::Set(d, w[0]), w1 = hn::Set(d, w[1]), w2 = hn::Set(d, w[2]);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Vec<T> x = hn::LoadU(d, a + i), y = hn::LoadU(d, b + i);
    Vec<T> sum = hn::MulAdd(w0, x, hn::Mul(w1, y));
    if (c) {
      const Vec<T> z = hn::LoadU(d, c + i);
      sum = hn::MulAdd(w2, z, sum);
      hn::StoreU(hn::NegMulAdd(sum, v2, z), d, c + i);
    }
    hn::StoreU(hn::NegMulAdd(sum, v0, x), d, a + i);
    hn::StoreU(hn::NegMulAdd(sum, v1, y), d, b + i);
  }
  for (; i < n; ++i) {
    T sum = w[0] * a[i] + w[1] * b[i];
    if (c) {
      sum += w[2] * c[i];
      c[i] -= sum * v[2];
    }
    a[i] -= sum * v[0];
    b[i] -= sum * v[1];
  }
}

// The rows are independent: a vector holds one column of all rows.
template <typename T>
void reflect_columns(int64_t count, const Reflection3<T>* f, T* rows, int64_t ld) {
  const Tag<T> d;
  const hn::RebindToSigned<Tag<T>> di;
  const auto index =
      hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<hn::TFromD<decltype(di)>>(ld)));
  Vec<T> a = hn::GatherIndex(d, rows, index), b = hn::GatherIndex(d, rows + 1, index);
  for (int64_t i = 0; i < count; ++i, ++f, ++rows) {
    const Vec<T> c = hn::GatherIndex(d, rows + 2, index);
    const Vec<T> sum =
        hn::MulAdd(hn::Set(d, f->w[2]), c,
                   hn::MulAdd(hn::Set(d, f->w[1]), b, hn::Mul(hn::Set(d, f->w[0]), a)));
    hn::ScatterIndex(hn::NegMulAdd(sum, hn::Set(d, f->v[0]), a), d, rows, index);
    a = hn::NegMulAdd(sum, hn::Set(d, f->v[1]), b);
    b = hn::NegMulAdd(sum, hn::Set(d, f->v[2]), c);
  }
  hn::ScatterIndex(a, d, rows, index);
  hn::ScatterIndex(b, d, rows + 1, index);
}

#if HWY_TARGET == HWY_SCALAR
template <typename T>
constexpr int64_t kSquare = 1;
template <typename T>
HWY_INLINE void transpose_square(const T* from, int64_t, T* to, int64_t) {
  *to = *from;
}
#else
template <typename T>
constexpr int64_t kSquare = 16 / sizeof(T);
/// Transposes kSquare rows of as many elements.
HWY_INLINE void transpose_square(const float* from, int64_t ld, float* to, int64_t ld_to) {
  const hn::Full128<float> d;
  const hn::Full128<double> d2;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + ld);
  const auto r2 = hn::LoadU(d, from + 2 * ld), r3 = hn::LoadU(d, from + 3 * ld);
  const auto low01 = hn::BitCast(d2, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(d2, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(d2, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(d2, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, low01, low23)), d, to + ld_to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, high01, high23)), d, to + 2 * ld_to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, high01, high23)), d, to + 3 * ld_to);
}
HWY_INLINE void transpose_square(const double* from, int64_t ld, double* to, int64_t ld_to) {
  const hn::Full128<double> d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + ld);
  hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
  hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + ld_to);
}

#endif

template <typename T>
void transpose(int64_t rows, int64_t columns, const T* from, int64_t ld, T* to, int64_t ld_to) {
  constexpr int64_t kTile = 16, square = kSquare<T>;
  for (int64_t i0 = 0; i0 < rows; i0 += kTile)
    for (int64_t j0 = 0; j0 < columns; j0 += kTile) {
      const int64_t i1 = std::min(rows, i0 + kTile), j1 = std::min(columns, j0 + kTile);
      int64_t i = i0;
      for (; i + square <= i1; i += square) {
        int64_t j = j0;
        for (; j + square <= j1; j += square)
          transpose_square(from + i * ld + j, ld, to + j * ld_to + i, ld_to);
        for (; j < j1; ++j)
          for (int64_t r = i; r < i + square; ++r) to[j * ld_to + r] = from[r * ld + j];
      }
      for (; i < i1; ++i)
        for (int64_t j = j0; j < j1; ++j) to[j * ld_to + i] = from[i * ld + j];
    }
}

template <typename T>
Kernels<T> make() {
  return {transpose<T>,          dot<T>,         add_scaled<T>,           largest<T>,
          multiply_symmetric<T>, solve_lower<T>, subtract_row_product<T>, rotate<T>,
          reflect_rows<T>,       kLanes<T>,      reflect_columns<T>};
}
Kernels<float> make_f32() { return make<float>(); }
Kernels<double> make_f64() { return make<double>(); }

}  // namespace kaiseki::linalg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::linalg {

HWY_EXPORT(make_f32);
HWY_EXPORT(make_f64);
HWY_EXPORT(pole_sums);

PoleSums pole_sums(int64_t n, const double* poles, const double* z, double origin, double x) {
  return HWY_DYNAMIC_DISPATCH(pole_sums)(n, poles, z, origin, x);
}

template <>
const Kernels<float>& kernels<float>() {
  static const Kernels<float> all = HWY_DYNAMIC_DISPATCH(make_f32)();
  return all;
}
template <>
const Kernels<double>& kernels<double>() {
  static const Kernels<double> all = HWY_DYNAMIC_DISPATCH(make_f64)();
  return all;
}

}  // namespace kaiseki::linalg
#endif
