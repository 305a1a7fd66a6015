// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/vector_kernels.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/vector_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "matrix/backend/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu {
namespace HWY_NAMESPACE {

constexpr size_t kPiece = 2048;

/// Adds term(i, count) in pieces, with four accumulators in float. The pieces are added in double.
template <class Term, class Part>
HWY_INLINE double accumulate(size_t n, Term term, Part part) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  double total = 0;
  for (size_t first = 0; first < n; first += kPiece) {
    const size_t end = std::min(n, first + kPiece);
    VF32 s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    size_t i = first;
    for (; i + 4 * lanes <= end; i += 4 * lanes) {
      s0 = hn::Add(s0, term(i));
      s1 = hn::Add(s1, term(i + lanes));
      s2 = hn::Add(s2, term(i + 2 * lanes));
      s3 = hn::Add(s3, term(i + 3 * lanes));
    }
    for (; i + lanes <= end; i += lanes) s0 = hn::Add(s0, term(i));
    if (i < end) s1 = hn::Add(s1, part(i, end - i));
    const VF32 s = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
    total += hn::GetLane(hn::SumOfLanes(d, s));
  }
  return total;
}

double sum(const float* x, size_t n) {
  const F32 d;
  return accumulate(
      n, [&](size_t i) HWY_ATTR { return hn::LoadU(d, x + i); },
      [&](size_t i, size_t m) HWY_ATTR { return load_part(d, x + i, m); });
}

double dot(const float* a, const float* b, size_t n) {
  const F32 d;
  return accumulate(
      n, [&](size_t i) HWY_ATTR { return hn::Mul(hn::LoadU(d, a + i), hn::LoadU(d, b + i)); },
      [&](size_t i, size_t m)
          HWY_ATTR { return hn::Mul(load_part(d, a + i, m), load_part(d, b + i, m)); });
}

double dot_centered(const float* a, const float* b, float center, size_t n) {
  const F32 d;
  const VF32 c = hn::Set(d, center);
  return accumulate(
      n,
      [&](size_t i)
          HWY_ATTR { return hn::Mul(hn::LoadU(d, a + i), hn::Sub(hn::LoadU(d, b + i), c)); },
      [&](size_t i, size_t m)
          HWY_ATTR { return hn::Mul(load_part(d, a + i, m), hn::Sub(load_part(d, b + i, m), c)); });
}

double squared_deviation(const float* x, float center, size_t n) {
  const F32 d;
  const VF32 c = hn::Set(d, center);
  auto square = [&](VF32 v) HWY_ATTR { return hn::Mul(v, v); };
  return accumulate(
      n, [&](size_t i) HWY_ATTR { return square(hn::Sub(hn::LoadU(d, x + i), c)); },
      [&](size_t i, size_t m) HWY_ATTR {
        return hn::IfThenElseZero(hn::FirstN(d, m), square(hn::Sub(load_part(d, x + i, m), c)));
      });
}

template <class Combine>
HWY_INLINE void combine_to(float* total, const float* x, size_t n, Combine combine) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(combine(hn::LoadU(d, total + i), hn::LoadU(d, x + i)), d, total + i);
  const size_t m = n - i;
  if (m) store_part(d, combine(load_part(d, total + i, m), load_part(d, x + i, m)), total + i, m);
}

void add_to(float* total, const float* x, size_t n) {
  combine_to(total, x, n, [](VF32 t, VF32 v) HWY_ATTR { return hn::Add(t, v); });
}
void add_squares_to(float* total, const float* x, size_t n) {
  combine_to(total, x, n, [](VF32 t, VF32 v) HWY_ATTR { return hn::MulAdd(v, v, t); });
}
void maximum_to(float* total, const float* x, size_t n) {
  combine_to(total, x, n, [](VF32 t, VF32 v) HWY_ATTR { return maximum_of(t, v); });
}
void minimum_to(float* total, const float* x, size_t n) {
  combine_to(total, x, n, [](VF32 t, VF32 v) HWY_ATTR { return minimum_of(t, v); });
}

template <bool kMaximum>
HWY_INLINE float extreme(const float* x, size_t n) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  auto better = [](VF32 a, VF32 b)
                    HWY_ATTR { return kMaximum ? maximum_of(a, b) : minimum_of(a, b); };
  VF32 s0 = hn::Set(d, kMaximum ? -kInfinity : kInfinity), s1 = s0;
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    s0 = better(s0, hn::LoadU(d, x + i));
    s1 = better(s1, hn::LoadU(d, x + i + lanes));
  }
  if (i + lanes <= n) {
    s0 = better(s0, hn::LoadU(d, x + i));
    i += lanes;
  }
  if (i < n) s1 = better(s1, hn::IfThenElse(hn::FirstN(d, n - i), load_part(d, x + i, n - i), s1));
  alignas(64) float values[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(better(s0, s1), d, values);
  float result = values[0];
  for (size_t l = 1; l < lanes; ++l)
    if (values[l] != values[l] || (kMaximum ? values[l] > result : values[l] < result))
      result = values[l];
  return result;
}

float maximum(const float* x, size_t n) { return extreme<true>(x, n); }
float minimum(const float* x, size_t n) { return extreme<false>(x, n); }

template <class Function>
HWY_INLINE void each(float* y, size_t n, Function f) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  auto whole = [&](const float* p) HWY_ATTR { return hn::LoadU(d, p + i); };
  for (; i + lanes <= n; i += lanes) hn::StoreU(f(whole), d, y + i);
  const size_t m = n - i;
  auto part = [&](const float* p) HWY_ATTR { return load_part(d, p + i, m); };
  if (m) store_part(d, f(part), y + i, m);
}

void affine(const float* x, float a, float b, float* y, size_t n) {
  const F32 d;
  const VF32 va = hn::Set(d, a), vb = hn::Set(d, b);
  each(y, n, [&](auto at) HWY_ATTR { return hn::MulAdd(va, at(x), vb); });
}

// A NaN compares as not below `low`, so it stays.
void normalize(const float* x, float center, float scale, float shift, float low, float* y,
               size_t n) {
  const F32 d;
  const VF32 c = hn::Set(d, center), vs = hn::Set(d, scale), vb = hn::Set(d, shift);
  const VF32 least = hn::Set(d, low);
  each(y, n, [&](auto at) HWY_ATTR {
    const VF32 value = hn::MulAdd(hn::Sub(at(x), c), vs, vb);
    return hn::IfThenElse(hn::Lt(value, least), least, value);
  });
}

void normalize_backward(const float* dy, const float* x, float center, float a, float b,
                        float shift, float* dx, size_t n) {
  const F32 d;
  const VF32 c = hn::Set(d, center), va = hn::Set(d, a), vb = hn::Set(d, b);
  const VF32 vs = hn::Set(d, shift);
  each(dx, n, [&](auto at) HWY_ATTR {
    return hn::MulAdd(va, at(dy), hn::MulAdd(vb, hn::Sub(at(x), c), vs));
  });
}

void multiply_centered(const float* a, const float* b, float center, float* y, size_t n) {
  const F32 d;
  const VF32 c = hn::Set(d, center);
  each(y, n, [&](auto at) HWY_ATTR { return hn::Mul(at(a), hn::Sub(at(b), c)); });
}

void subtract_scaled_exp(const float* g, const float* x, float scale, float* y, size_t n) {
  const F32 d;
  const VF32 s = hn::Set(d, scale);
  each(y, n, [&](auto at) HWY_ATTR { return hn::NegMulAdd(exp_of(d, at(x)), s, at(g)); });
}

void divide_by_power(const float* x, const float* base, float power, float* y, size_t n) {
  const F32 d;
  const VF32 p = hn::Set(d, -power);
  if (power == 0.75f)
    return each(y, n, [&](auto at) HWY_ATTR {
      const VF32 root = hn::Sqrt(at(base));
      return hn::Div(at(x), hn::Mul(root, hn::Sqrt(root)));
    });
  each(y, n, [&](auto at) HWY_ATTR {
    return hn::Mul(at(x), exp_of(d, hn::Mul(p, log_of(d, at(base)))));
  });
}

void sum_rows(const float* x, size_t rows, size_t stride, float* y, size_t n) {
  const F32 d;
  each(y, n, [&](auto at) HWY_ATTR {
    VF32 total = hn::Zero(d);
    for (size_t row = 0; row < rows; ++row) total = hn::Add(total, at(x + row * stride));
    return total;
  });
}

void sum_squared_rows(const float* x, size_t rows, size_t stride, float scale, float k, float* y,
                      size_t n) {
  const F32 d;
  const VF32 vs = hn::Set(d, scale), vk = hn::Set(d, k);
  each(y, n, [&](auto at) HWY_ATTR {
    VF32 total = hn::Zero(d);
    for (size_t row = 0; row < rows; ++row) {
      const VF32 v = at(x + row * stride);
      total = hn::MulAdd(v, v, total);
    }
    return hn::MulAdd(vs, total, vk);
  });
}

void product_quotient(const float* a, const float* b, const float* base, float* y, size_t n) {
  each(y, n, [&](auto at) HWY_ATTR { return hn::Div(hn::Mul(at(a), at(b)), at(base)); });
}

void add_scaled_product(const float* a, const float* b, const float* c, float factor, float* y,
                        size_t n) {
  const F32 d;
  const VF32 f = hn::Set(d, factor);
  each(y, n, [&](auto at) HWY_ATTR { return hn::MulAdd(hn::Mul(f, at(b)), at(c), at(a)); });
}

template <bool kStore>
HWY_INLINE double exp_sum(const float* x, float shift, float* y, size_t n) {
  const F32 d;
  const size_t lanes = hn::Lanes(d);
  const VF32 s = hn::Set(d, shift);
  double total = 0;
  for (size_t first = 0; first < n; first += kPiece) {
    const size_t end = std::min(n, first + kPiece);
    VF32 sum = hn::Zero(d);
    for (size_t i = first; i < end; i += lanes) {
      const size_t left = std::min(lanes, end - i);
      const VF32 v = left == lanes ? hn::LoadU(d, x + i) : load_part(d, x + i, left);
      const VF32 e = exp_of(d, hn::Sub(v, s));
      if (left == lanes) {
        if (kStore) hn::StoreU(e, d, y + i);
        sum = hn::Add(sum, e);
      } else {
        if (kStore) store_part(d, e, y + i, left);
        sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, left), e));
      }
    }
    total += hn::GetLane(hn::SumOfLanes(d, sum));
  }
  return total;
}

double exp_shifted(const float* x, float shift, float* y, size_t n) {
  return exp_sum<true>(x, shift, y, n);
}
double sum_exp_shifted(const float* x, float shift, size_t n) {
  return exp_sum<false>(x, shift, nullptr, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::cpu {

#define KAISEKI_EXPORT(result, name, parameters, arguments) \
  HWY_EXPORT(name);                                         \
  result name parameters { return HWY_DYNAMIC_DISPATCH(name) arguments; }

KAISEKI_EXPORT(double, sum, (const float* x, size_t n), (x, n))
KAISEKI_EXPORT(double, squared_deviation, (const float* x, float center, size_t n), (x, center, n))
KAISEKI_EXPORT(double, dot, (const float* a, const float* b, size_t n), (a, b, n))
KAISEKI_EXPORT(double, dot_centered, (const float* a, const float* b, float center, size_t n),
               (a, b, center, n))
KAISEKI_EXPORT(float, maximum, (const float* x, size_t n), (x, n))
KAISEKI_EXPORT(float, minimum, (const float* x, size_t n), (x, n))
KAISEKI_EXPORT(void, add_to, (float* total, const float* x, size_t n), (total, x, n))
KAISEKI_EXPORT(void, add_squares_to, (float* total, const float* x, size_t n), (total, x, n))
KAISEKI_EXPORT(void, maximum_to, (float* total, const float* x, size_t n), (total, x, n))
KAISEKI_EXPORT(void, minimum_to, (float* total, const float* x, size_t n), (total, x, n))
KAISEKI_EXPORT(void, affine, (const float* x, float a, float b, float* y, size_t n),
               (x, a, b, y, n))
KAISEKI_EXPORT(void, normalize,
               (const float* x, float center, float scale, float shift, float low, float* y,
                size_t n),
               (x, center, scale, shift, low, y, n))
KAISEKI_EXPORT(void, normalize_backward,
               (const float* dy, const float* x, float center, float a, float b, float shift,
                float* dx, size_t n),
               (dy, x, center, a, b, shift, dx, n))
KAISEKI_EXPORT(double, exp_shifted, (const float* x, float shift, float* y, size_t n),
               (x, shift, y, n))
KAISEKI_EXPORT(double, sum_exp_shifted, (const float* x, float shift, size_t n), (x, shift, n))
KAISEKI_EXPORT(void, subtract_scaled_exp,
               (const float* g, const float* x, float scale, float* y, size_t n),
               (g, x, scale, y, n))
KAISEKI_EXPORT(void, multiply_centered,
               (const float* a, const float* b, float center, float* y, size_t n),
               (a, b, center, y, n))
KAISEKI_EXPORT(void, sum_rows, (const float* x, size_t rows, size_t stride, float* y, size_t n),
               (x, rows, stride, y, n))
KAISEKI_EXPORT(void, sum_squared_rows,
               (const float* x, size_t rows, size_t stride, float scale, float k, float* y,
                size_t n),
               (x, rows, stride, scale, k, y, n))
KAISEKI_EXPORT(void, product_quotient,
               (const float* a, const float* b, const float* d, float* y, size_t n),
               (a, b, d, y, n))
KAISEKI_EXPORT(void, add_scaled_product,
               (const float* a, const float* b, const float* c, float factor, float* y, size_t n),
               (a, b, c, factor, y, n))
KAISEKI_EXPORT(void, divide_by_power,
               (const float* x, const float* d, float power, float* y, size_t n),
               (x, d, power, y, n))

double sum_of_squares(const float* x, size_t n) { return dot(x, x, n); }

}  // namespace kaiseki::cpu
#endif
