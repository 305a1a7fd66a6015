// SPDX-License-Identifier: MIT
#include "matrix/conv/fft.h"

#include <algorithm>
#include <array>

#include "matrix/backend/cpu/gemm.h"
#include "matrix/backend/cpu/gemm_kernel.h"
#include "matrix/conv/correlation.h"
#include "matrix/conv/fft_kernels.h"
#include "matrix/conv/gather.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

using conv::kFftLanes;
using cpu::gemm_kernels;

constexpr int64_t kLeastTaps = 25;
constexpr uint64_t kMostWorkspace = uint64_t{1} << 30;
constexpr int64_t kLine = 16;  // floats: elements start in different sets of the caches

int64_t whole_lanes(int64_t channels) { return (channels + kFftLanes - 1) / kFftLanes * kFftLanes; }

/// Forward and backward-data as one: y = x correlated with the filter, group by group. Spectra are
/// [element][real, imaginary][group][...]: of the filter [inputs][outputs], of x [tiles][inputs],
/// of y [tiles][outputs], channels last in whole lanes.
struct Plan : conv::Correlation {
  const ConvProblem& p;
  int64_t size, tile_h, tile_w, tiles_h, tiles_w;

  Plan(int64_t tile, const ConvProblem& problem)
      : Correlation(problem),
        p(problem),
        size(tile),
        tile_h(size - p.r + 1),
        tile_w(size - p.s + 1),
        tiles_h((out_h + tile_h - 1) / tile_h),
        tiles_w((out_w + tile_w - 1) / tile_w) {}

  int64_t elements() const { return conv::fft_elements(size); }
  int64_t tiles() const { return p.n * tiles_h * tiles_w; }
  int64_t in_lanes() const { return whole_lanes(inputs); }
  int64_t out_lanes() const { return whole_lanes(outputs); }
  int64_t filter_part() const { return p.groups * inputs * out_lanes() + kLine; }
  int64_t in_part() const { return p.groups * tiles() * in_lanes() + kLine; }
  int64_t out_part() const { return p.groups * tiles() * out_lanes() + kLine; }
  int64_t floats() const { return 2 * elements() * (filter_part() + in_part() + out_part()); }
};

struct Spectra {
  float *filter, *in, *out;
  Spectra(const Plan& t, float* workspace)
      : filter(workspace),
        in(filter + 2 * t.elements() * t.filter_part()),
        out(in + 2 * t.elements() * t.in_part()) {}
};

float* tile_scratch(const Plan& t) {
  return conv::thread_scratch(0, conv::fft_tile_floats(t.size));
}
float* line_scratch(const Plan& t) {
  return conv::thread_scratch(1, conv::fft_scratch_floats(t.size));
}

/// Tasks are one input channel and as many outputs as there are lanes.
void transform_filter(const Plan& t, const float* filter, float* spectrum) {
  const int64_t lanes = t.out_lanes(), blocks = lanes / kFftLanes, taps = t.p.r * t.p.s;
  const int64_t in_step = t.turned ? t.outputs * taps : taps;
  const int64_t out_step = t.turned ? taps : t.inputs * taps;
  const float scale = 1.0f / static_cast<float>(t.size * t.size);
  parallel_for(t.p.groups * t.inputs * blocks, 4, [&](int64_t begin, int64_t end) {
    float* tile = tile_scratch(t);
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
                        line_scratch(t));
    }
  });
}

/// A tile of some channels of one group.
struct Place {
  int64_t group, tile, channel, count;  // channels from `channel` on
  int64_t plane, row, column;           // first channel's plane; of the tile's first output
  Place(const Plan& t, int64_t task, int64_t channels) {
    const int64_t blocks = whole_lanes(channels) / kFftLanes;
    channel = task % blocks * kFftLanes, count = std::min(kFftLanes, channels - channel);
    group = task / blocks / t.tiles(), tile = task / blocks % t.tiles();
    const int64_t image = tile / (t.tiles_h * t.tiles_w);
    plane = (image * t.p.groups + group) * channels + channel;
    row = tile / t.tiles_w % t.tiles_h * t.tile_h, column = tile % t.tiles_w * t.tile_w;
  }
};

void load_tile(const Plan& t, const Place& at, const float* x, float* tile) {
  const int64_t column = at.column - t.left, width = t.size * kFftLanes;
  const int64_t begin = std::clamp<int64_t>(-column, 0, t.size);
  const int64_t end = std::clamp<int64_t>(t.w - column, begin, t.size);
  const float* planes = x + at.plane * t.h * t.w;
  for (int64_t i = 0; i < t.size; ++i, tile += width) {
    const int64_t row = at.row - t.top + i;
    if (row < 0 || row >= t.h || begin == end) {
      std::fill_n(tile, width, 0.0f);
      continue;
    }
    std::fill_n(tile, begin * kFftLanes, 0.0f);
    gemm_kernels().pack_transposed(end - begin, static_cast<int>(at.count), kFftLanes,
                                   planes + row * t.w + column + begin, t.h * t.w,
                                   tile + begin * kFftLanes);
    std::fill(tile + end * kFftLanes, tile + width, 0.0f);
  }
}

void store_tile(const Plan& t, const Place& at, const float* tile, const cpu::Epilogue& last,
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

/// y = x * conjugate(filter), for each element and group.
void multiply(const Plan& t, const Spectra& s) {
  parallel_for(t.elements() * t.p.groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t e = task / t.p.groups, group = task % t.p.groups;
      const float* x = s.in + 2 * e * t.in_part() + group * t.tiles() * t.in_lanes();
      const float* f = s.filter + 2 * e * t.filter_part() + group * t.inputs * t.out_lanes();
      float* y = s.out + 2 * e * t.out_part() + group * t.tiles() * t.out_lanes();
      cpu::Gemm g{.m = t.tiles(), .n = t.outputs, .k = t.inputs};
      g.lda = t.in_lanes(), g.ldb = g.ldc = t.out_lanes();
      const auto add = [&](int x_part, int f_part, int y_part, float alpha, float beta) {
        g.a = x + x_part * t.in_part(), g.b = f + f_part * t.filter_part();
        g.c = y + y_part * t.out_part(), g.alpha = alpha, g.beta = beta;
        cpu::gemm(g);
      };
      add(0, 0, 0, 1, 0), add(1, 1, 0, 1, 1);
      add(1, 0, 1, 1, 0), add(0, 1, 1, -1, 1);
    }
  });
}

class Fft final : public ConvSolver {
 public:
  Fft(std::string_view name, int64_t size) : name_(name), size_(size) {}
  std::string_view name() const override { return name_; }

  bool applicable(const ConvProblem& p) const override {
    constexpr std::array<int64_t, 2> kOne{1, 1};
    return p.direction != ConvDirection::backward_filter && p.stride == kOne &&
           p.dilation == kOne && p.r * p.s >= kLeastTaps && 2 * std::max(p.r, p.s) <= size_ &&
           workspace_bytes(p) <= kMostWorkspace;
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    return static_cast<uint64_t>(Plan(size_, p).floats()) * sizeof(float);
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const Plan t(size_, p);
    const Spectra spectra(t, reinterpret_cast<float*>(args.workspace->overwrite<uint8_t>()));
    const float* x = (t.turned ? args.y : args.x)->data<float>();
    float* y = (t.turned ? args.x : args.y)->overwrite<float>();
    transform_filter(t, args.filter->data<float>(), spectra.filter);
    parallel_for(
        t.p.groups * t.tiles() * t.in_lanes() / kFftLanes, 1, [&](int64_t begin, int64_t end) {
          for (int64_t task = begin; task < end; ++task) {
            const Place at(t, task, t.inputs);
            float* tile = tile_scratch(t);
            load_tile(t, at, x, tile);
            float* to = spectra.in + (at.group * t.tiles() + at.tile) * t.in_lanes() + at.channel;
            conv::fft_forward(t.size, t.size, tile, to, to + t.in_part(), 2 * t.in_part(),
                              line_scratch(t));
          }
        });
    multiply(t, spectra);
    const float* bias = args.bias ? args.bias->data<float>() : nullptr;
    parallel_for(
        t.p.groups * t.tiles() * t.out_lanes() / kFftLanes, 1, [&](int64_t begin, int64_t end) {
          for (int64_t task = begin; task < end; ++task) {
            const Place at(t, task, t.outputs);
            const float* from =
                spectra.out + (at.group * t.tiles() + at.tile) * t.out_lanes() + at.channel;
            float *tile = tile_scratch(t), *lines = line_scratch(t);
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
