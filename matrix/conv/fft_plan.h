// SPDX-License-Identifier: MIT
// What the Fourier solvers share: a convolution in tiles that overlap, the layout of their spectra,
// and the way of pictures' tiles into them.
#pragma once

#include "matrix/backend/cpu/gemm.h"
#include "matrix/conv/correlation.h"
#include "matrix/conv/fft_kernels.h"

namespace kaiseki::conv {

/// Spectra are [element][real, imaginary][group][...]: of the filter [inputs][outputs], of the
/// input [tiles][inputs], of the output [tiles][outputs], channels last in whole lanes.
struct FftPlan : Correlation {
  const ConvProblem& p;
  int64_t size, tile_h, tile_w, tiles_h, tiles_w;

  FftPlan(int64_t tile, const ConvProblem& problem)
      : Correlation(problem),
        p(problem),
        size(tile),
        tile_h(size - p.r + 1),
        tile_w(size - p.s + 1),
        tiles_h((out_h + tile_h - 1) / tile_h),
        tiles_w((out_w + tile_w - 1) / tile_w) {}

  static int64_t whole_lanes(int64_t channels) {
    return (channels + kFftLanes - 1) / kFftLanes * kFftLanes;
  }
  int64_t elements() const { return fft_elements(size); }
  int64_t tiles() const { return p.n * tiles_h * tiles_w; }
  int64_t in_lanes() const { return whole_lanes(inputs); }
  int64_t out_lanes() const { return whole_lanes(outputs); }
  int64_t filter_part() const { return p.groups * inputs * out_lanes() + kLine; }
  int64_t in_part() const { return p.groups * tiles() * in_lanes() + kLine; }
  int64_t out_part() const { return p.groups * tiles() * out_lanes() + kLine; }
  int64_t filter_floats() const { return 2 * elements() * filter_part(); }
  int64_t floats() const { return filter_floats() + 2 * elements() * (in_part() + out_part()); }

 private:
  static constexpr int64_t kLine = 16;  // floats: elements start in different sets of the caches
};

struct FftSpectra {
  float *filter, *in, *out;
  FftSpectra(const FftPlan& t, float* workspace)
      : filter(workspace),
        in(filter + t.filter_floats()),
        out(in + 2 * t.elements() * t.in_part()) {}
};

/// A tile of some channels of one group.
struct FftPlace {
  int64_t group, tile, channel, count;  // channels from `channel` on
  int64_t plane, row, column;           // first channel's plane; of the tile's first output
  FftPlace(const FftPlan& t, int64_t task, int64_t channels);
};

/// Of one element: c = a * conjugate(b), where `g` has the shapes and strides, and imaginary parts
/// lie `a_part`, `b_part` and `c_part` floats behind the real ones.
void fft_multiply(cpu::Gemm g, const float* a, int64_t a_part, const float* b, int64_t b_part,
                  float* c, int64_t c_part);

float* fft_tile_scratch(const FftPlan& t);
float* fft_line_scratch(const FftPlan& t);

/// Every tile of the input x [n, groups * inputs, h, w] into its spectrum.
void fft_transform_input(const FftPlan& t, const float* x, float* spectrum);
/// Every tile of the output [n, groups * outputs, out_h, out_w], zeros around it.
void fft_transform_output(const FftPlan& t, const float* y, float* spectrum);

}  // namespace kaiseki::conv
