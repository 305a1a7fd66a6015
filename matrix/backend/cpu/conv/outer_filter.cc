// SPDX-License-Identifier: MIT
// Backward-filter as a matrix product. The input is packed with its channels last. For every pixel,
// the taps of a filter row are then one contiguous run. Pixels are summed in registers. Any
// problem; fastest with many input channels.
#include <algorithm>
#include <optional>
#include <vector>

#include "matrix/backend/cpu/conv/filter_sums.h"
#include "matrix/backend/cpu/conv/gather.h"
#include "matrix/backend/cpu/conv/packed_kernels.h"
#include "matrix/backend/cpu/conv/pooled.h"
#include "matrix/backend/cpu/conv/solvers.h"
#include "matrix/backend/cpu/gemm_kernel.h"
#include "matrix/ceil_div.h"

namespace kaiseki {
namespace {

constexpr int64_t kPackedFloats = 64 * 1024;  // floats of input packed at a time
constexpr int64_t kMaxChannels = 128;
constexpr int64_t kPixels = 512;  // pixels summed in registers at a time
constexpr int64_t kMaxRows = 128;

/// Splits a problem into blocks of channels, and into units of some output rows of an image. A few
/// units are packed together.
struct OuterFilterPlan {
  const ConvProblem& p;
  int64_t channels, block_channels, out_rows, in_rows, pitch, unit_floats, units;

  explicit OuterFilterPlan(const ConvProblem& problem) : p(problem), channels(p.c / p.groups) {
    block_channels = std::min(channels, kMaxChannels);
    pitch = (p.out_w() - 1) * p.stride[1] + p.dilation[1] * (p.s - 1) + 1;
    const int64_t halo = p.dilation[0] * (p.r - 1) + 1 - p.stride[0];
    const int64_t fit = (kPackedFloats / (pitch * block_channels) - halo) / p.stride[0];
    out_rows = std::clamp<int64_t>(std::min(fit, kPixels / p.out_w()), 1, p.out_h());
    in_rows = out_rows * p.stride[0] + halo;
    unit_floats = in_rows * pitch * block_channels;
    units = std::max<int64_t>(
        1, std::min(kPixels / (out_rows * p.out_w()), kPackedFloats / unit_floats));
  }
  /// The number of taps of a filter row that are adjacent in memory.
  int64_t run_taps() const { return p.dilation[1] == 1 ? p.s : 1; }
};

/// Packs input rows from `first_row`, with padding, as [in_rows][pitch][count].
void pack_input(const OuterFilterPlan& t, const float* x, int64_t count, int64_t first_row,
                float* out) {
  const ConvProblem& p = t.p;
  const int64_t left = std::min(p.padding[1], t.pitch);
  const int64_t inside = std::clamp<int64_t>(t.pitch - left, 0, p.w);
  for (int64_t i = 0; i < t.in_rows; ++i, out += t.pitch * count) {
    const int64_t y = first_row + i;
    if (y < 0 || y >= p.h || inside == 0) {
      std::fill_n(out, t.pitch * count, 0.0f);
      continue;
    }
    std::fill_n(out, left * count, 0.0f);
    cpu::gemm_kernels().pack_transposed(inside, static_cast<int>(count), static_cast<int>(count),
                                        x + y * p.w, p.h * p.w, out + left * count);
    std::fill(out + (left + inside) * count, out + t.pitch * count, 0.0f);
  }
}

class OuterFilterTask {
 public:
  OuterFilterTask(const ConvProblem& p, const ConvArgs& args)
      : plan_(p),
        p_(p),
        x_(args.x->data<float>()),
        dy_(args.pooling ? nullptr : args.y->data<float>()) {
    if (args.pooling) pooling_.emplace(*args.pooling);
  }

  void sum(int64_t begin, int64_t end, int64_t group, int64_t k, int64_t rows, float* sums) const {
    for (int64_t first = 0; first < rows; first += kMaxRows)
      for (int64_t row = 0; row < p_.out_h(); row += plan_.out_rows)
        for (int64_t image = begin; image < end; image += plan_.units)
          sum_units(image, std::min(plan_.units, end - image), row, group, k + first,
                    std::min(kMaxRows, rows - first), sums + first * plan_.channels * p_.r * p_.s);
  }

 private:
  void sum_units(int64_t image, int64_t units, int64_t row, int64_t group, int64_t k, int64_t rows,
                 float* sums) const {
    const int64_t plane = p_.out_h() * p_.out_w(), in_plane = p_.h * p_.w;
    const int64_t pixels = std::min(plan_.out_rows, p_.out_h() - row) * p_.out_w();
    const int64_t block = conv::multiply_block(rows), depth = units * pixels;
    const int64_t blocks = ceil_div(rows, block);
    float* gradients = conv::thread_scratch(1, blocks * block * depth);
    for (int64_t b = 0; b < blocks; ++b)
      for (int64_t u = 0; u < units; ++u) {
        const int64_t first = (image + u) * p_.k + group * (p_.k / p_.groups) + k + b * block;
        const int64_t count = std::min(block, rows - b * block);
        float* to = gradients + (b * depth + u * pixels) * block;
        const auto pack = [&](const float* dy, int64_t stride) {
          cpu::gemm_kernels().pack_transposed(pixels, static_cast<int>(count),
                                              static_cast<int>(block), dy, stride, to);
        };
        if (pooling_) {
          const conv::UnpooledRows dy(*pooling_, first, count, row, row + pixels / p_.out_w());
          pack(dy.data(), dy.rows() * p_.out_w());
        } else {
          pack(dy_ + first * plane + row * p_.out_w(), plane);
        }
      }
    float* packed = conv::thread_scratch(0, units * plan_.unit_floats + conv::kPackSlack);
    std::fill_n(packed + units * plan_.unit_floats, conv::kPackSlack, 0.0f);
    std::vector<int64_t> offsets(static_cast<size_t>(depth));
    for (int64_t c = 0; c < plan_.channels; c += plan_.block_channels) {
      const int64_t count = std::min(plan_.block_channels, plan_.channels - c);
      const int64_t unit = plan_.in_rows * plan_.pitch * count;
      for (int64_t u = 0; u < units; ++u) {
        pack_input(plan_, x_ + ((image + u) * p_.c + group * plan_.channels + c) * in_plane, count,
                   row * p_.stride[0] - p_.padding[0], packed + u * unit);
        for (int64_t i = 0; i < pixels; ++i)
          offsets[static_cast<size_t>(u * pixels + i)] =
              u * unit +
              (i / p_.out_w() * p_.stride[0] * plan_.pitch + i % p_.out_w() * p_.stride[1]) * count;
      }
      multiply_taps(gradients, rows, block, depth, packed, offsets.data(), c, count, sums);
    }
  }

  void multiply_taps(const float* gradients, int64_t rows, int64_t block, int64_t depth,
                     const float* packed, const int64_t* offsets, int64_t c, int64_t count,
                     float* sums) const {
    const bool whole = count == plan_.channels;
    const int64_t step = whole ? plan_.run_taps() : 1;
    for (int64_t r = 0; r < p_.r; ++r)
      for (int64_t s = 0; s < p_.s; s += step)
        conv::multiply(
            {.a = gradients,
             .m = rows,
             .block = block,
             .depth = depth,
             .b = packed + (r * p_.dilation[0] * plan_.pitch + s * p_.dilation[1]) * count,
             .offsets = offsets,
             .pixels = step * count,
             .c = sums + (r * p_.s + s) * plan_.channels + c,
             .ldc = plan_.channels * p_.r * p_.s,
             .rows = nullptr,
             .accumulate = true,
             .finish = false,
             .bias = nullptr,
             .activation = Activation::none,
             .slope = 0});
  }

  OuterFilterPlan plan_;
  const ConvProblem& p_;
  const float *x_, *dy_;
  std::optional<conv::PoolingSource> pooling_;  // set: replaces dy
};

class OuterFilter final : public ConvSolver {
 public:
  std::string_view name() const override { return "outer_filter"; }

  /// Applies if a run of taps fills two vectors or more.
  bool applicable(const ConvProblem& p) const override {
    return p.direction == ConvDirection::backward_filter && !conv::has_padding_only_taps(p) &&
           OuterFilterPlan(p).run_taps() * (p.c / p.groups) >= 32;
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    return conv::filter_sums_bytes(p);
  }

  bool fuses_pooling(const ConvProblem&) const override { return true; }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const OuterFilterTask task(p, args);
    conv::sum_filter(p, args, true,
                     [&](int64_t begin, int64_t end, int64_t group, int64_t k, int64_t rows,
                         float* sums) { task.sum(begin, end, group, k, rows, sums); });
  }
};

}  // namespace

const ConvSolver& outer_filter_solver() {
  static const OuterFilter solver;
  return solver;
}

}  // namespace kaiseki
