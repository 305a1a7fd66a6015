// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/conv/fft_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "matrix/backend/cpu/conv/fft_kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#ifndef KAISEKI_CONV_FFT_TABLES_
#define KAISEKI_CONV_FFT_TABLES_
namespace kaiseki::conv {

constexpr int64_t kMostSize = 32;

/// exp(-2 pi i k / size), and the position of frequency k after a transform.
struct FftTables {
  std::array<float, kMostSize> cosine, sine;
  std::array<int64_t, kMostSize> place;
};

const FftTables& fft_tables(int64_t size);

}  // namespace kaiseki::conv
#endif

#include "matrix/backend/cpu/conv/packed-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kaiseki::conv {
namespace HWY_NAMESPACE {

/// `size` complex values: kLanes real parts and kLanes imaginary parts each.
struct Line {
  HWY_ALIGN float re[kMostSize * HWY_LANES(float)];
  HWY_ALIGN float im[kMostSize * HWY_LANES(float)];
};

/// Transforms from natural to bit-reversed order.
void transform(int64_t size, const FftTables& tables, Line& line) {
  for (int64_t half = size / 2, step = 1; half >= 1; half /= 2, step *= 2)
    for (int64_t j = 0; j < half; ++j) {
      const V c = hn::Set(d, tables.cosine[j * step]), s = hn::Set(d, tables.sine[j * step]);
      for (int64_t first = j; first < size; first += 2 * half) {
        float *re = line.re + first * kLanes, *im = line.im + first * kLanes;
        const V ar = hn::Load(d, re), br = hn::Load(d, re + half * kLanes);
        const V ai = hn::Load(d, im), bi = hn::Load(d, im + half * kLanes);
        const V r = hn::Sub(ar, br), i = hn::Sub(ai, bi);
        hn::Store(hn::Add(ar, br), d, re);
        hn::Store(hn::Add(ai, bi), d, im);
        hn::Store(hn::NegMulAdd(i, s, hn::Mul(r, c)), d, re + half * kLanes);
        hn::Store(hn::MulAdd(r, s, hn::Mul(i, c)), d, im + half * kLanes);
      }
    }
}

/// The inverse of transform(), without the division by size.
void transform_back(int64_t size, const FftTables& tables, Line& line) {
  for (int64_t half = 1, step = size / 2; half < size; half *= 2, step /= 2)
    for (int64_t j = 0; j < half; ++j) {
      const V c = hn::Set(d, tables.cosine[j * step]), s = hn::Set(d, tables.sine[j * step]);
      for (int64_t first = j; first < size; first += 2 * half) {
        float *re = line.re + first * kLanes, *im = line.im + first * kLanes;
        const V br = hn::Load(d, re + half * kLanes), bi = hn::Load(d, im + half * kLanes);
        const V r = hn::MulAdd(bi, s, hn::Mul(br, c)), i = hn::NegMulAdd(br, s, hn::Mul(bi, c));
        const V ar = hn::Load(d, re), ai = hn::Load(d, im);
        hn::Store(hn::Add(ar, r), d, re);
        hn::Store(hn::Add(ai, i), d, im);
        hn::Store(hn::Sub(ar, r), d, re + half * kLanes);
        hn::Store(hn::Sub(ai, i), d, im + half * kLanes);
      }
    }
}

/// Two real rows are transformed together as one complex row: even row + i * odd row.
void fft_forward(int64_t size, int64_t rows, const float* tile, float* re, float* im,
                 int64_t stride, float* scratch) {
  const FftTables& tables = fft_tables(size);
  const int64_t columns = size / 2 + 1;
  const V half = hn::Set(d, 0.5f);
  Line line;
  float *rows_re = scratch, *rows_im = scratch + columns * size * kLanes;
  for (int64_t lane = 0; lane < kFftLanes; lane += kLanes) {
    for (int64_t i = 0; i < size; i += 2) {
      if (i >= rows) {
        for (int64_t f = 0; f < columns; ++f)
          for (int64_t k : {i, i + 1}) {
            hn::Store(hn::Zero(d), d, rows_re + (f * size + k) * kLanes);
            hn::Store(hn::Zero(d), d, rows_im + (f * size + k) * kLanes);
          }
        continue;
      }
      const float* from = tile + i * size * kFftLanes + lane;
      for (int64_t j = 0; j < size; ++j) {
        hn::Store(hn::LoadU(d, from + j * kFftLanes), d, line.re + j * kLanes);
        hn::Store(i + 1 < rows ? hn::LoadU(d, from + (size + j) * kFftLanes) : hn::Zero(d), d,
                  line.im + j * kLanes);
      }
      transform(size, tables, line);
      for (int64_t f = 0; f < columns; ++f) {
        const int64_t a = tables.place[f] * kLanes, b = tables.place[(size - f) % size] * kLanes;
        const V ar = hn::Load(d, line.re + a), ai = hn::Load(d, line.im + a);
        const V br = hn::Load(d, line.re + b), bi = hn::Load(d, line.im + b);
        float *to_re = rows_re + (f * size + i) * kLanes,
              *to_im = rows_im + (f * size + i) * kLanes;
        hn::Store(hn::Mul(half, hn::Add(ar, br)), d, to_re);
        hn::Store(hn::Mul(half, hn::Sub(ai, bi)), d, to_im);
        hn::Store(hn::Mul(half, hn::Add(ai, bi)), d, to_re + kLanes);
        hn::Store(hn::Mul(half, hn::Sub(br, ar)), d, to_im + kLanes);
      }
    }
    for (int64_t f = 0; f < columns; ++f) {
      std::copy_n(rows_re + f * size * kLanes, size * kLanes, line.re);
      std::copy_n(rows_im + f * size * kLanes, size * kLanes, line.im);
      transform(size, tables, line);
      for (int64_t i = 0; i < size; ++i) {
        hn::StoreU(hn::Load(d, line.re + i * kLanes), d, re + (f * size + i) * stride + lane);
        hn::StoreU(hn::Load(d, line.im + i * kLanes), d, im + (f * size + i) * stride + lane);
      }
    }
  }
}

void fft_inverse(int64_t size, int64_t count, const float* re, const float* im, int64_t stride,
                 float* tile, float* scratch) {
  const FftTables& tables = fft_tables(size);
  const int64_t columns = size / 2 + 1;
  Line line;
  float *rows_re = scratch, *rows_im = scratch + columns * size * kLanes;
  for (int64_t lane = 0; lane < count; lane += kLanes) {
    const int64_t part = std::min(kLanes, count - lane);
    const auto load = [&](const float* from) {
      return part == kLanes ? hn::LoadU(d, from) : load_part(d, from, part);
    };
    for (int64_t f = 0; f < columns; ++f) {
      for (int64_t i = 0; i < size; ++i) {
        hn::Store(load(re + (f * size + i) * stride + lane), d, line.re + i * kLanes);
        hn::Store(load(im + (f * size + i) * stride + lane), d, line.im + i * kLanes);
      }
      transform_back(size, tables, line);
      std::copy_n(line.re, size * kLanes, rows_re + f * size * kLanes);
      std::copy_n(line.im, size * kLanes, rows_im + f * size * kLanes);
    }
    for (int64_t i = 0; i < size; i += 2) {
      for (int64_t f = 0; f < columns; ++f) {
        const float *a_re = rows_re + (f * size + i) * kLanes,
                    *a_im = rows_im + (f * size + i) * kLanes;
        const V ar = hn::Load(d, a_re), ai = hn::Load(d, a_im);
        const V br = hn::Load(d, a_re + kLanes), bi = hn::Load(d, a_im + kLanes);
        const int64_t a = tables.place[f] * kLanes, b = tables.place[(size - f) % size] * kLanes;
        hn::Store(hn::Add(ar, bi), d, line.re + b);
        hn::Store(hn::Sub(br, ai), d, line.im + b);
        hn::Store(hn::Sub(ar, bi), d, line.re + a);
        hn::Store(hn::Add(ai, br), d, line.im + a);
      }
      transform_back(size, tables, line);
      float* to = tile + i * size * kFftLanes + lane;
      for (int64_t j = 0; j < size; ++j) {
        hn::StoreU(hn::Load(d, line.re + j * kLanes), d, to + j * kFftLanes);
        hn::StoreU(hn::Load(d, line.im + j * kLanes), d, to + (size + j) * kFftLanes);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace kaiseki::conv
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kaiseki::conv {
namespace {

FftTables make_tables(int64_t size) {
  constexpr double kTurn = 6.283185307179586;
  FftTables tables{};
  for (int64_t k = 0; k < size; ++k) {
    const double angle = -kTurn * static_cast<double>(k) / static_cast<double>(size);
    tables.cosine[static_cast<size_t>(k)] = static_cast<float>(std::cos(angle));
    tables.sine[static_cast<size_t>(k)] = static_cast<float>(std::sin(angle));
    int64_t place = 0;
    for (int64_t bit = 1; bit < size; bit *= 2) place = 2 * place + (k & bit ? 1 : 0);
    tables.place[static_cast<size_t>(k)] = place;
  }
  return tables;
}

}  // namespace

const FftTables& fft_tables(int64_t size) {
  static const FftTables small = make_tables(16), large = make_tables(32);
  return size == 16 ? small : large;
}

HWY_EXPORT(fft_forward);
HWY_EXPORT(fft_inverse);

void fft_forward(int64_t size, int64_t rows, const float* tile, float* re, float* im,
                 int64_t stride, float* scratch) {
  HWY_DYNAMIC_DISPATCH(fft_forward)(size, rows, tile, re, im, stride, scratch);
}
void fft_inverse(int64_t size, int64_t count, const float* re, const float* im, int64_t stride,
                 float* tile, float* scratch) {
  HWY_DYNAMIC_DISPATCH(fft_inverse)(size, count, re, im, stride, tile, scratch);
}
}  // namespace kaiseki::conv
#endif
