// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/conv/fft_filter.h"

#include <algorithm>

#include "matrix/threads.h"

namespace kaiseki::conv {
namespace {

/// Computes filter = input * conjugate(output) for each element and group.
void multiply(const FftPlan& t, const FftSpectra& s) {
  parallel_for(t.elements() * t.p.groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t e = task / t.p.groups, group = task % t.p.groups;
      const float* x = s.in + 2 * e * t.in_part() + group * t.tiles() * t.in_lanes();
      const float* y = s.out + 2 * e * t.out_part() + group * t.tiles() * t.out_lanes();
      float* f = s.filter + 2 * e * t.filter_part() + group * t.inputs * t.out_lanes();
      cpu::Gemm g{.trans_a = true, .m = t.inputs, .n = t.outputs, .k = t.tiles()};
      g.lda = t.in_lanes(), g.ldb = g.ldc = t.out_lanes();
      fft_multiply(g, x, t.in_part(), y, t.out_part(), f, t.filter_part());
    }
  });
}

/// Each task covers one input channel and as many outputs as there are lanes.
void write_gradient(const FftPlan& t, const float* spectrum, float beta, float* filter) {
  const int64_t lanes = t.out_lanes(), blocks = lanes / kFftLanes, taps = t.p.r * t.p.s;
  const float scale = 1.0f / static_cast<float>(t.size * t.size);
  parallel_for(t.p.groups * t.inputs * blocks, 4, [&](int64_t begin, int64_t end) {
    float* tile = fft_tile_scratch(t);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t group = task / blocks / t.inputs, input = task / blocks % t.inputs;
      const int64_t first = task % blocks * kFftLanes;
      const int64_t count = std::min(kFftLanes, t.outputs - first);
      const float* from = spectrum + task / blocks * lanes + first;
      fft_inverse(t.size, count, from, from + t.filter_part(), 2 * t.filter_part(), tile,
                  fft_line_scratch(t));
      for (int64_t o = 0; o < count; ++o) {
        float* to = filter + ((group * t.outputs + first + o) * t.inputs + input) * taps;
        for (int64_t i = 0; i < taps; ++i) {
          const float value = scale * tile[(i / t.p.s * t.size + i % t.p.s) * kFftLanes + o];
          to[i] = beta == 0 ? value : value + beta * to[i];
        }
      }
    }
  });
}

}  // namespace

void fft_backward_filter(const FftPlan& t, const FftSpectra& spectra, const ConvArgs& args) {
  fft_transform_input(t, args.x->data<float>(), spectra.in);
  fft_transform_output(t, args.y->data<float>(), spectra.out);
  multiply(t, spectra);
  write_gradient(
      t, spectra.filter, args.beta,
      args.beta == 0 ? args.filter->overwrite<float>() : args.filter->mutable_data<float>());
}

}  // namespace kaiseki::conv
