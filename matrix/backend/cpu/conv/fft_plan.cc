// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/conv/fft_plan.h"

#include <algorithm>

#include "matrix/backend/cpu/conv/gather.h"
#include "matrix/backend/cpu/gemm_kernel.h"
#include "matrix/threads.h"

namespace kaiseki::conv {
namespace {

/// The part of planes of h rows of w that a tile covers. It has `rows` by `columns` values from
/// (row, column) on. It may extend outside the planes.
struct TileCut {
  int64_t h, w, row, column, rows, columns;
};

void load_tile(const FftPlan& t, const TileCut& cut, int64_t count, const float* planes,
               float* tile) {
  const int64_t width = t.size * kFftLanes;
  const int64_t begin = std::clamp<int64_t>(-cut.column, 0, cut.columns);
  const int64_t end = std::clamp<int64_t>(cut.w - cut.column, begin, cut.columns);
  for (int64_t i = 0; i < cut.rows; ++i, tile += width) {
    const int64_t row = cut.row + i;
    if (row < 0 || row >= cut.h || begin == end) {
      std::fill_n(tile, width, 0.0f);
      continue;
    }
    std::fill_n(tile, begin * kFftLanes, 0.0f);
    cpu::gemm_kernels().pack_transposed(end - begin, static_cast<int>(count), kFftLanes,
                                        planes + row * cut.w + cut.column + begin, cut.h * cut.w,
                                        tile + begin * kFftLanes);
    std::fill(tile + end * kFftLanes, tile + width, 0.0f);
  }
}

/// cut_of(place) returns the part of the planes that the tile at `place` covers.
template <class CutOf>
void transform(const FftPlan& t, int64_t channels, int64_t part, const float* x, float* spectrum,
               CutOf cut_of) {
  const int64_t lanes = FftPlan::whole_lanes(channels);
  parallel_for(t.p.groups * t.tiles() * lanes / kFftLanes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const FftPlace at(t, task, channels);
      const TileCut cut = cut_of(at);
      float* tile = fft_tile_scratch(t);
      load_tile(t, cut, at.count, x + at.plane * cut.h * cut.w, tile);
      float* to = spectrum + (at.group * t.tiles() + at.tile) * lanes + at.channel;
      fft_forward(t.size, cut.rows, tile, to, to + part, 2 * part, fft_line_scratch(t));
    }
  });
}

}  // namespace

FftPlace::FftPlace(const FftPlan& t, int64_t task, int64_t channels) {
  const int64_t blocks = FftPlan::whole_lanes(channels) / kFftLanes;
  channel = task % blocks * kFftLanes, count = std::min(kFftLanes, channels - channel);
  group = task / blocks / t.tiles(), tile = task / blocks % t.tiles();
  const int64_t image = tile / (t.tiles_h * t.tiles_w);
  plane = (image * t.p.groups + group) * channels + channel;
  row = tile / t.tiles_w % t.tiles_h * t.tile_h, column = tile % t.tiles_w * t.tile_w;
}

void fft_multiply(cpu::Gemm g, const float* a, int64_t a_part, const float* b, int64_t b_part,
                  float* c, int64_t c_part) {
  const auto add = [&](int from_a, int from_b, int to_c, float alpha, float beta) {
    g.a = a + from_a * a_part, g.b = b + from_b * b_part, g.c = c + to_c * c_part;
    g.alpha = alpha, g.beta = beta;
    cpu::gemm(g);
  };
  add(0, 0, 0, 1, 0), add(1, 1, 0, 1, 1);
  add(1, 0, 1, 1, 0), add(0, 1, 1, -1, 1);
}

float* fft_tile_scratch(const FftPlan& t) { return thread_scratch(0, fft_tile_floats(t.size)); }
float* fft_line_scratch(const FftPlan& t) { return thread_scratch(1, fft_scratch_floats(t.size)); }

void fft_transform_input(const FftPlan& t, const float* x, float* spectrum) {
  transform(t, t.inputs, t.in_part(), x, spectrum, [&](const FftPlace& at) {
    return TileCut{t.h, t.w, at.row - t.top, at.column - t.left, t.size, t.size};
  });
}

void fft_transform_output(const FftPlan& t, const float* y, float* spectrum) {
  transform(t, t.outputs, t.out_part(), y, spectrum, [&](const FftPlace& at) {
    return TileCut{t.out_h, t.out_w, at.row, at.column, t.tile_h, t.tile_w};
  });
}

}  // namespace kaiseki::conv
