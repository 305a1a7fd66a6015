// SPDX-License-Identifier: MIT
// The inner kernels of matrix products, compiled once for each instruction set.
#include "matrix/backend/cpu/gemm_kernel.h"

#include <algorithm>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/gemm_kernel.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on
#include <hwy/contrib/math/math-inl.h>

#include "matrix/backend/cpu/gemm_tile-inl.h"
#include "matrix/backend/cpu/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Vec = hn::Vec<hn::ScalableTag<float>>;
const hn::CappedTag<float, 4> quad;
constexpr int kQuad = hn::MaxLanes(quad);

void pack(int64_t k, int count, int width, const float* HWY_RESTRICT source, int64_t stride,
          float* HWY_RESTRICT panel) {
  const hn::ScalableTag<float> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  if (count == width && width == 2 * lanes) {
    const int64_t ahead = k * stride;  // distance of the rows to be packed next
    for (int64_t p = 0; p < k; ++p, source += stride, panel += width) {
      hwy::Prefetch(source + ahead);
      hwy::Prefetch(source + ahead + lanes);
      hn::StoreU(hn::LoadU(d, source), d, panel);
      hn::StoreU(hn::LoadU(d, source + lanes), d, panel + lanes);
    }
    return;
  }
  for (int64_t p = 0; p < k; ++p, source += stride, panel += width) {
    int i = 0;
    for (; i + kQuad <= count; i += kQuad) hn::StoreU(hn::LoadU(quad, source + i), quad, panel + i);
    for (; i < count; ++i) panel[i] = source[i];
    for (; i < width; ++i) panel[i] = 0;
  }
}

#if HWY_TARGET != HWY_SCALAR
/// Loads four k of rows 0, 4, 8 ... of `rows`, one row in each 128-bit block.
template <class D>
HWY_INLINE hn::Vec<D> load_blocks(D d, const float* const* rows, int64_t p) {
  if constexpr (hn::MaxLanes(d) == kQuad) {
    return hn::LoadU(d, rows[0] + p);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, rows + hn::MaxLanes(half), p),
                       load_blocks(half, rows, p));
  }
}

/// Transposes four k of as many rows as a vector has lanes: to[q * width + i] = rows[i][p + q].
HWY_INLINE void transpose(const float* const* rows, int64_t p, float* HWY_RESTRICT to,
                          int64_t width) {
  const hn::ScalableTag<float> d;
  const hn::Repartition<double, decltype(d)> d2;
  const Vec r0 = load_blocks(d, rows, p), r1 = load_blocks(d, rows + 1, p);
  const Vec r2 = load_blocks(d, rows + 2, p), r3 = load_blocks(d, rows + 3, p);
  const auto low01 = hn::BitCast(d2, hn::InterleaveLower(d, r0, r1));
  const auto low23 = hn::BitCast(d2, hn::InterleaveLower(d, r2, r3));
  const auto high01 = hn::BitCast(d2, hn::InterleaveUpper(d, r0, r1));
  const auto high23 = hn::BitCast(d2, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, low01, low23)), d, to + width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(d2, high01, high23)), d, to + 2 * width);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(d2, high01, high23)), d, to + 3 * width);
}
#endif

void pack_transposed(int64_t k, int count, int width, const float* HWY_RESTRICT source,
                     int64_t stride, float* HWY_RESTRICT panel) {
  constexpr int kLanes = hn::MaxLanes(hn::ScalableTag<float>());
  for (int group = 0; group < width; group += kLanes) {
    const int first = std::min(group, std::max(0, width - kLanes));
    const float* rows[kLanes];
    for (int i = 0; i < kLanes; ++i) rows[i] = source + std::min(first + i, count - 1) * stride;
    int64_t p = 0;
#if HWY_TARGET != HWY_SCALAR
    // The panel is narrower than a vector. The next store overwrites the excess lanes.
    for (; (p + 3) * width + first + kLanes <= k * width && p + 4 <= k; p += 4)
      transpose(rows, p, panel + p * width + first, width);
#endif
    for (; p < k; ++p)
      for (int i = 0; i < std::min(kLanes, width); ++i) panel[p * width + first + i] = rows[i][p];
  }
}

void merge(int64_t rows, int64_t columns, const float* tile, int64_t tile_stride, float alpha,
           float beta, float* c, int64_t ldc) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d);
  const Vec scale = hn::Set(d, alpha), keep = hn::Set(d, beta);
  for (int64_t i = 0; i < rows; ++i, tile += tile_stride, c += ldc) {
    for (int64_t j = 0; j < columns; j += lanes) {
      const int64_t part = std::min(lanes, columns - j);
      const bool whole = part == lanes;
      Vec v = hn::Mul(scale, whole ? hn::LoadU(d, tile + j) : load_part(d, tile + j, part));
      if (beta != 0)
        v = hn::MulAdd(keep, whole ? hn::LoadU(d, c + j) : load_part(d, c + j, part), v);
      if (whole)
        hn::StoreU(v, d, c + j);
      else
        store_part(d, v, c + j, part);
    }
  }
}

template <Activation kActivation>
Vec activate(Vec v, Vec slope) {
  const hn::ScalableTag<float> d;
  const Vec zero = hn::Zero(d), one = hn::Set(d, 1.0f);
  if constexpr (kActivation == Activation::relu) {
    return hn::IfThenZeroElse(hn::Lt(v, zero), v);
  } else if constexpr (kActivation == Activation::leaky_relu) {
    return hn::IfThenElse(hn::Lt(v, zero), hn::Mul(v, slope), v);
  } else if constexpr (kActivation == Activation::sigmoid) {
    const Vec e = hn::Exp(d, hn::Min(hn::Neg(v), hn::Set(d, 87.0f)));
    return hn::IfThenElse(hn::IsNaN(v), v, hn::Div(one, hn::Add(one, e)));
  } else if constexpr (kActivation == Activation::tanh) {
    return hn::Tanh(d, v);
  } else {
    static_assert(kActivation == Activation::none);
    return v;
  }
}

template <Activation kActivation>
void finish_as(const Epilogue& e, int64_t rows, int64_t columns, float* c, int64_t ldc) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = hn::Lanes(d);
  const Vec slope = hn::Set(d, e.slope);
  for (int64_t i = 0; i < rows; ++i, c += ldc) {
    const Vec row = hn::Set(d, e.bias_row ? e.bias_row[i] : 0.0f);
    for (int64_t j = 0; j < columns; j += lanes) {
      const int64_t part = std::min(lanes, columns - j);
      const bool whole = part == lanes;
      Vec v = whole ? hn::LoadU(d, c + j) : load_part(d, c + j, part);
      if (e.bias_row) v = hn::Add(v, row);
      if (e.bias_col)
        v = hn::Add(v, whole ? hn::LoadU(d, e.bias_col + j) : load_part(d, e.bias_col + j, part));
      v = activate<kActivation>(v, slope);
      if (whole)
        hn::StoreU(v, d, c + j);
      else
        store_part(d, v, c + j, part);
    }
  }
}

void finish(const Epilogue& e, int64_t rows, int64_t columns, float* c, int64_t ldc) {
  switch (e.activation) {
    case Activation::none:
      return finish_as<Activation::none>(e, rows, columns, c, ldc);
    case Activation::relu:
      return finish_as<Activation::relu>(e, rows, columns, c, ldc);
    case Activation::leaky_relu:
      return finish_as<Activation::leaky_relu>(e, rows, columns, c, ldc);
    case Activation::sigmoid:
      return finish_as<Activation::sigmoid>(e, rows, columns, c, ldc);
    case Activation::tanh:
      return finish_as<Activation::tanh>(e, rows, columns, c, ldc);
  }
}

template <bool kByRows, int kVectors, int... kRows>
void fill_tiles(TileFn* tiles, std::integer_sequence<int, kRows...>) {
  ((tiles[kRows] = tile<kRows + 1, kVectors, kByRows>), ...);
}

GemmKernels make_kernels() {
  GemmKernels kernels{};
  kernels.lanes = static_cast<int>(hn::Lanes(hn::ScalableTag<float>()));
  kernels.rows = kTileRows;
  kernels.vectors = 2;
  const std::make_integer_sequence<int, kTileRows> rows;
  fill_tiles<false, 1>(kernels.tile[0][0], rows);
  fill_tiles<false, 2>(kernels.tile[0][1], rows);
  fill_tiles<true, 1>(kernels.tile[1][0], rows);
  fill_tiles<true, 2>(kernels.tile[1][1], rows);
  kernels.pack = pack;
  kernels.pack_transposed = pack_transposed;
  kernels.merge = merge;
  kernels.finish = finish;
  return kernels;
}

}  // namespace kaiseki::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::cpu {

HWY_EXPORT(make_kernels);

const GemmKernels& gemm_kernels() {
  static const GemmKernels kernels = HWY_DYNAMIC_DISPATCH(make_kernels)();
  return kernels;
}

}  // namespace kaiseki::cpu
#endif
