// SPDX-License-Identifier: MIT
// Convolution by the fast Fourier transform in overlapping tiles of 16x16 or 32x32, for filters
// from 5x5. Each frequency is a matrix product over channels. All three directions; stride and
// dilation 1. In tests the error is at most 4e-7 of the largest value. Like Winograd's, errors are
// relative to the largest values of a tile. A NaN or an infinity affects the whole tile.
#include <algorithm>
#include <array>

#include "matrix/backend/cpu/conv/fft_filter.h"
#include "matrix/backend/cpu/conv/fft_plan.h"
#include "matrix/backend/cpu/conv/gather.h"
#include "matrix/backend/cpu/conv/solvers.h"
#include "matrix/backend/cpu/gemm.h"
#include "matrix/backend/cpu/gemm_kernel.h"
#include "matrix/conv/fft_tiles.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

using conv::FftPlace;
using conv::FftPlan;
using conv::FftSpectra;
using conv::kFftLanes;
using cpu::gemm_kernels;

/// Each task covers one input channel and as many outputs as there are lanes.
void transform_filter(const FftPlan& t, const float* filter, float* spectrum) {
  const int64_t lanes = t.out_lanes(), blocks = lanes / kFftLanes, taps = t.p.r * t.p.s;
  const int64_t in_step = t.turned ? t.outputs * taps : taps;
  const int64_t out_step = t.turned ? taps : t.inputs * taps;
  const float scale = 1.0f / static_cast<float>(t.size * t.size);
  parallel_for(t.p.groups * t.inputs * blocks, 4, [&](int64_t begin, int64_t end) {
    float* tile = conv::fft_tile_scratch(t);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t group_input = task / blocks, first = task % blocks * kFftLanes;
      const int64_t group = group_input / t.inputs, input = group_input % t.inputs;
      const float* from = filter + group * t.inputs * t.outputs * taps + input * in_step;
      std::fill_n(tile, t.p.r * t.size * kFftLanes, 0.0f);
      for (int64_t o = first; o < std::min(first + kFftLanes, t.outputs); ++o)
        for (int64_t i = 0; i < taps; ++i) {
          const int64_t tap = t.turned ? taps - 1 - i : i;
          tile[(tap / t.p.s * t.size + tap % t.p.s) * kFftLanes + o - first] =
              scale * from[o * out_step + i];
        }
      float* to = spectrum + group_input * lanes + first;
      conv::fft_forward(t.size, t.p.r, tile, to, to + t.filter_part(), 2 * t.filter_part(),
                        conv::fft_line_scratch(t));
    }
  });
}

void store_tile(const FftPlan& t, const FftPlace& at, const float* tile, const cpu::Epilogue& last,
                float* scratch, float* y) {
  const int64_t columns = std::min(t.tile_w, t.out_w - at.column), plane = t.out_h * t.out_w;
  for (int64_t i = 0; i < std::min(t.tile_h, t.out_h - at.row); ++i) {
    const auto width = static_cast<int>(columns);
    gemm_kernels().pack_transposed(at.count, width, width, tile + i * t.size * kFftLanes, kFftLanes,
                                   scratch);
    float* to = y + at.plane * plane + (at.row + i) * t.out_w + at.column;
    gemm_kernels().merge(at.count, columns, scratch, columns, 1, 0, to, plane);
    if (!last.empty()) gemm_kernels().finish(last, at.count, columns, to, plane);
  }
}

/// Computes y = x * conjugate(filter) for each element and group.
void multiply(const FftPlan& t, const FftSpectra& s, const float* filter) {
  parallel_for(t.elements() * t.p.groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t e = task / t.p.groups, group = task % t.p.groups;
      const float* x = s.in + 2 * e * t.in_part() + group * t.tiles() * t.in_lanes();
      const float* f = filter + 2 * e * t.filter_part() + group * t.inputs * t.out_lanes();
      float* y = s.out + 2 * e * t.out_part() + group * t.tiles() * t.out_lanes();
      cpu::Gemm g{.m = t.tiles(), .n = t.outputs, .k = t.inputs};
      g.lda = t.in_lanes(), g.ldb = g.ldc = t.out_lanes();
      conv::fft_multiply(g, x, t.in_part(), f, t.filter_part(), y, t.out_part());
    }
  });
}

class Fft final : public ConvSolver {
 public:
  Fft(std::string_view name, int64_t size) : name_(name), size_(size) {}
  std::string_view name() const override { return name_; }

  bool applicable(const ConvProblem& p) const override {
    return fft_supports(size_, p) && workspace_bytes(p) <= kMostFftWorkspace;
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    return static_cast<uint64_t>(FftPlan(size_, p).floats()) * sizeof(float);
  }

  uint64_t prepared_bytes(const ConvProblem& p) const override {
    if (p.direction == ConvDirection::backward_filter) return 0;
    return static_cast<uint64_t>(FftPlan(size_, p).filter_floats()) * sizeof(float);
  }

  void prepare(const ConvProblem& p, const Tensor& filter, Tensor& prepared) const override {
    transform_filter(FftPlan(size_, p), filter.data<float>(),
                     reinterpret_cast<float*>(prepared.overwrite<uint8_t>()));
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const FftPlan t(size_, p);
    const FftSpectra spectra(t, reinterpret_cast<float*>(args.workspace->overwrite<uint8_t>()));
    if (p.direction == ConvDirection::backward_filter)
      return conv::fft_backward_filter(t, spectra, args);
    const float* x = (t.turned ? args.y : args.x)->data<float>();
    float* y = (t.turned ? args.x : args.y)->overwrite<float>();
    if (!args.prepared) transform_filter(t, args.filter->data<float>(), spectra.filter);
    const float* filter = args.prepared
                              ? reinterpret_cast<const float*>(args.prepared->data<uint8_t>())
                              : spectra.filter;
    conv::fft_transform_input(t, x, spectra.in);
    multiply(t, spectra, filter);
    const float* bias = args.bias ? args.bias->data<float>() : nullptr;
    parallel_for(
        t.p.groups * t.tiles() * t.out_lanes() / kFftLanes, 1, [&](int64_t begin, int64_t end) {
          for (int64_t task = begin; task < end; ++task) {
            const FftPlace at(t, task, t.outputs);
            const float* from =
                spectra.out + (at.group * t.tiles() + at.tile) * t.out_lanes() + at.channel;
            float *tile = conv::fft_tile_scratch(t), *lines = conv::fft_line_scratch(t);
            conv::fft_inverse(t.size, at.count, from, from + t.out_part(), 2 * t.out_part(), tile,
                              lines);
            cpu::Epilogue last{nullptr, nullptr, args.activation, args.slope};
            if (bias) last.bias_row = bias + at.group * t.outputs + at.channel;
            store_tile(t, at, tile, last, lines, y);
          }
        });
  }

 private:
  std::string_view name_;
  int64_t size_;
};

}  // namespace

std::span<const ConvSolver* const> fft_solvers() {
  static const Fft large("fft32x32", 32), small("fft16x16", 16);
  static const ConvSolver* const solvers[] = {&large, &small};
  return solvers;
}

}  // namespace kaiseki
