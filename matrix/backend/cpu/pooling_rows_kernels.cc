// SPDX-License-Identifier: MIT
// Copies a plane with its padding into scratch memory. For stride 2, even and odd columns are
// stored separately. A column of all windows of a row is then contiguous. The backward pass
// gathers. Each input element sums the outputs with a window over it, in the order of the outputs.
#include "matrix/backend/cpu/pooling_rows_kernels.h"

#include <algorithm>
#include <limits>

#include "matrix/backend/cpu/pooling_window.h"
#include "matrix/backend/cpu/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/pooling_rows_kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include "matrix/backend/cpu/padded_rows-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <size_t kLanes>
using Tag = hn::CappedTag<float, kLanes>;

/// Compile-time parameters of a kernel. kWindow 0 stands for any number of columns.
template <size_t kLanes, int kStride, int kWindow>
struct Kind {
  static constexpr size_t lanes = kLanes;
  static constexpr int stride = kStride;
  static int64_t window(const PoolingArgs& p) { return kWindow ? kWindow : p.window[1]; }
};

/// The layout of the input rows. Covers the columns of all windows and all columns of the input.
PaddedRows input_rows(const PoolingArgs& p) {
  const int64_t stride = p.stride[1], padding = p.padding[1];
  const int64_t pitch =
      std::max(p.out_w + (p.window[1] - 1) / stride, (padding + p.in_w + stride - 1) / stride);
  return {stride, padding, pitch, p.in_w};
}

template <class K>
HWY_INLINE void max_row(const PoolingArgs& p, const PaddedRows& layout, const float* x, int64_t i,
                        float* y, int32_t* indices) {
  const Tag<K::lanes> d;
  const hn::RebindToSigned<Tag<K::lanes>> di;
  const PoolingWindow rows = pooling_window(p, 0, i, p.in_h);
  const int64_t window = K::window(p), size = K::stride * layout.pitch;
  const auto narrow = [&](int64_t value)
                          HWY_ATTR { return hn::Set(di, static_cast<int32_t>(value)); };
  const auto iota = hn::Mul(hn::Iota(di, 0), narrow(K::stride));
  for_vectors(p.out_w, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t j) HWY_ATTR {
    const auto column = hn::Add(iota, narrow(j * K::stride - p.padding[1]));
    auto best = hn::Set(d, -std::numeric_limits<float>::infinity());
    auto offset = hn::Add(hn::Max(hn::Neg(column), hn::Zero(di)), narrow(rows.begin * p.in_w));
    for (int64_t r = rows.begin; r < rows.end; ++r)
      for (int64_t s = 0; s < window; ++s) {
        const float* from = x + r * size + s % K::stride * layout.pitch + s / K::stride + j;
        const auto value = hn::LoadU(d, from);
        const auto wins = hn::AndNot(hn::IsNaN(best), hn::Not(hn::Le(value, best)));
        best = hn::IfThenElse(wins, value, best);
        offset = hn::IfThenElse(hn::RebindMask(di, wins), narrow(r * p.in_w + s), offset);
      }
    hn::StoreU(best, d, y + j);
    hn::StoreU(hn::Add(offset, column), di, indices + j);
  });
}

template <class K>
HWY_INLINE void average_row(const PoolingArgs& p, const PaddedRows& layout, const float* x,
                            const float* divisors, int64_t i, float* y) {
  const Tag<K::lanes> d;
  const PoolingWindow rows = pooling_window(p, 0, i, p.in_h);
  const int64_t window = K::window(p), size = K::stride * layout.pitch;
  const auto height = hn::Set(d, pooling_divisor(p, rows));
  for_vectors(p.out_w, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t j) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (int64_t r = rows.begin; r < rows.end; ++r)
      for (int64_t s = 0; s < window; ++s) {
        const float* from = x + r * size + s % K::stride * layout.pitch + s / K::stride + j;
        sum = hn::Add(sum, hn::LoadU(d, from));
      }
    hn::StoreU(hn::Div(sum, hn::Mul(height, hn::LoadU(d, divisors + j))), d, y + j);
  });
}

/// Computes row `h` of dx, split into phases. `parts` holds the shares of the outputs, with `reach`
/// zeros on both sides of a row.
template <class K>
HWY_INLINE void average_row_backward(const PoolingArgs& p, const PaddedRows& layout,
                                     const float* parts, int64_t parts_pitch, int64_t h,
                                     float* dx) {
  const Tag<K::lanes> d;
  const int64_t window = K::window(p), reach = (window - 1) / K::stride;
  const int64_t row = h + p.padding[0], before = row - p.window[0] + p.stride[0];
  const int64_t begin = before > 0 ? before / p.stride[0] : 0;
  const int64_t end = std::min(p.out_h, row / p.stride[0] + 1);
  for (int64_t phase = 0; phase < K::stride; ++phase)
    for_vectors(layout.pitch, static_cast<int64_t>(hn::Lanes(d)), [&](int64_t q) HWY_ATTR {
      auto sum = hn::Zero(d);
      for (int64_t i = begin; i < end; ++i)
        for (int64_t t = (window - 1 - phase + K::stride) / K::stride - 1; t >= 0; --t)
          sum = hn::Add(sum, hn::LoadU(d, parts + i * parts_pitch + reach + q - t));
      hn::StoreU(sum, d, dx + phase * layout.pitch + q);
    });
}

void fill_divisors(const PoolingArgs& p, float* divisors) {
  for (int64_t j = 0; j < p.out_w; ++j)
    divisors[j] = pooling_divisor(p, pooling_window(p, 1, j, p.in_w));
}

template <class K>
void forward(K, const PoolingArgs& p, int64_t planes, const float* x, float* y, int32_t* indices) {
  const PaddedRows layout = input_rows(p);
  const int64_t size = p.in_h * layout.size();
  float* padded = thread_scratch(static_cast<size_t>(size + p.out_w));
  float* divisors = padded + size;
  std::fill_n(padded, size, p.maximum ? -std::numeric_limits<float>::infinity() : 0.0f);
  fill_divisors(p, divisors);
  for (int64_t plane = 0; plane < planes; ++plane) {
    for (int64_t r = 0; r < p.in_h; ++r, x += p.in_w) layout.put(x, padded + r * layout.size());
    for (int64_t i = 0; i < p.out_h; ++i, y += p.out_w) {
      if (p.maximum)
        max_row<K>(p, layout, padded, i, y, indices), indices += p.out_w;
      else
        average_row<K>(p, layout, padded, divisors, i, y);
    }
  }
}

template <class K>
void backward(K, const PoolingArgs& p, int64_t planes, const float* dy, float* dx) {
  const PaddedRows layout = input_rows(p);
  const int64_t reach = (p.window[1] - 1) / p.stride[1], pitch = layout.pitch + 2 * reach;
  const int64_t size = p.out_h * pitch;
  float* parts = thread_scratch(static_cast<size_t>(size + p.out_w + layout.size()));
  float *divisors = parts + size, *row = divisors + p.out_w;
  std::fill_n(parts, size, 0.0f);
  fill_divisors(p, divisors);
  for (int64_t plane = 0; plane < planes; ++plane) {
    for (int64_t i = 0; i < p.out_h; ++i, dy += p.out_w) {
      const float height = pooling_divisor(p, pooling_window(p, 0, i, p.in_h));
      float* to = parts + i * pitch + reach;
      for_vectors(p.out_w, static_cast<int64_t>(hn::Lanes(Tag<K::lanes>())),
                  [&](int64_t j) HWY_ATTR {
                    const Tag<K::lanes> d;
                    const auto count = hn::Mul(hn::Set(d, height), hn::LoadU(d, divisors + j));
                    hn::StoreU(hn::Div(hn::LoadU(d, dy + j), count), d, to + j);
                  });
    }
    for (int64_t h = 0; h < p.in_h; ++h, dx += p.in_w) {
      average_row_backward<K>(p, layout, parts, pitch, h, row);
      layout.get(row, dx);
    }
  }
}

/// Calls run(kind) with the matching kind.
template <size_t kLanes, class Run>
void with_kind_of(const PoolingArgs& p, const Run& run) {
  if (p.window[1] == 3)
    p.stride[1] == 1 ? run(Kind<kLanes, 1, 3>()) : run(Kind<kLanes, 2, 3>());
  else
    p.stride[1] == 1 ? run(Kind<kLanes, 1, 0>()) : run(Kind<kLanes, 2, 0>());
}

template <class Run>
void with_kind(const PoolingArgs& p, const Run& run) {
  if (p.out_w >= 16)
    with_kind_of<16>(p, run);
  else if (p.out_w >= 8)
    with_kind_of<8>(p, run);
  else
    with_kind_of<4>(p, run);
}

void rows_forward(const PoolingArgs& p, int64_t planes, const float* x, float* y,
                  int32_t* indices) {
  with_kind(p, [&](auto kind) { forward(kind, p, planes, x, y, indices); });
}

void rows_backward(const PoolingArgs& p, int64_t planes, const float* dy, float* dx) {
  with_kind(p, [&](auto kind) { backward(kind, p, planes, dy, dx); });
}

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::cpu {
HWY_EXPORT(rows_forward);
HWY_EXPORT(rows_backward);

bool supports_pooling_rows(const PoolingArgs& p) { return p.stride[1] <= 2 && p.out_w >= 4; }

void pooling_rows(const PoolingArgs& p, int64_t planes, const float* x, float* y,
                  int32_t* indices) {
  HWY_DYNAMIC_DISPATCH(rows_forward)(p, planes, x, y, indices);
}

void average_rows_backward(const PoolingArgs& p, int64_t planes, const float* dy, float* dx) {
  HWY_DYNAMIC_DISPATCH(rows_backward)(p, planes, dy, dx);
}

}  // namespace kaiseki::cpu
#endif
