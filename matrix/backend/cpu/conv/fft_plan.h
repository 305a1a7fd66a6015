// SPDX-License-Identifier: MIT
// FftPlan: a convolution in overlapping tiles, the layout of their spectra, and the transform of
// images into them. Both Fourier solvers use it.
#pragma once

#include "matrix/backend/cpu/conv/fft_kernels.h"
#include "matrix/backend/cpu/gemm.h"
#include "matrix/ceil_div.h"
#include "matrix/conv/correlation.h"

namespace kaiseki::conv {

/// The layout of a spectrum is [element][real, imaginary][group][...]. The last part is
/// [inputs][outputs] for the filter, [tiles][inputs] for the input and [tiles][outputs] for the
/// output. Channels are last and rounded up to whole vectors.
struct FftPlan : Correlation {
  const ConvProblem& p;
  int64_t size, tile_h, tile_w, tiles_h, tiles_w;

  FftPlan(int64_t tile, const ConvProblem& problem)
      : Correlation(problem),
        p(problem),
        size(tile),
        tile_h(size - p.r + 1),
        tile_w(size - p.s + 1),
        tiles_h(ceil_div(out_h, tile_h)),
        tiles_w(ceil_div(out_w, tile_w)) {}

  static int64_t whole_lanes(int64_t channels) { return round_up(channels, kFftLanes); }
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
  /// Floats of padding, so that elements start in different cache sets.
  static constexpr int64_t kLine = 16;
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
  int64_t group, tile, channel, count;  // `count` channels from `channel` on
  int64_t plane, row, column;  // plane of the first channel; position of the tile's first output
  FftPlace(const FftPlan& t, int64_t task, int64_t channels);
};

/// Computes c = a * conjugate(b) for one element. `g` gives the shapes and strides. The imaginary
/// parts are `a_part`, `b_part` and `c_part` floats after the real parts.
void fft_multiply(cpu::Gemm g, const float* a, int64_t a_part, const float* b, int64_t b_part,
                  float* c, int64_t c_part);

float* fft_tile_scratch(const FftPlan& t);
float* fft_line_scratch(const FftPlan& t);

/// Transforms every tile of the input x [n, groups * inputs, h, w].
void fft_transform_input(const FftPlan& t, const float* x, float* spectrum);
/// Transforms every tile of the output [n, groups * outputs, out_h, out_w], with zeros around it.
void fft_transform_output(const FftPlan& t, const float* y, float* spectrum);

}  // namespace kaiseki::conv
