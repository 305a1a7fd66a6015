// SPDX-License-Identifier: MIT
#include "matrix/conv/winograd.h"

#include <algorithm>
#include <array>

#include "matrix/backend/cpu/gemm.h"
#include "matrix/backend/cpu/gemm_kernel.h"
#include "matrix/conv/gather.h"
#include "matrix/conv/winograd_kernels.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

using conv::kWinogradSlack;
using conv::WinogradForm;

constexpr int64_t kBlockFloats = 512 * 1024;  // of transformed input and output: about an L2 cache
constexpr int64_t kLeastTiles = 96;           // of a block, below which its products are too narrow
constexpr int64_t kMostTiles = 512;
constexpr int64_t kFilterLanes = 16;

/// Forward and backward-data as one: y = x correlated with the filter, group by group.
struct Plan {
  WinogradForm form;
  bool turned;  // the filter is read backwards, and its two channel dimensions are swapped
  int64_t images, groups, inputs, outputs;  // channels of a group
  int64_t h, w, out_h, out_w, top, left;
  int64_t tiles_h, tiles_w, block_rows;

  Plan(const WinogradForm& tile, const ConvProblem& p)
      : form(tile),
        turned(p.direction == ConvDirection::backward_data),
        images(p.n),
        groups(p.groups),
        inputs((turned ? p.k : p.c) / p.groups),
        outputs((turned ? p.c : p.k) / p.groups),
        h(turned ? p.out_h() : p.h),
        w(turned ? p.out_w() : p.w),
        out_h(turned ? p.h : p.out_h()),
        out_w(turned ? p.w : p.out_w()),
        top(turned ? p.r - 1 - p.padding[0] : p.padding[0]),
        left(turned ? p.s - 1 - p.padding[1] : p.padding[1]),
        tiles_h((out_h + form.outputs - 1) / form.outputs),
        tiles_w((out_w + form.outputs - 1) / form.outputs) {
    const int64_t channels = std::max<int64_t>(1, inputs + outputs);
    const int64_t fit = kBlockFloats / (form.elements() * channels);
    const int64_t tiles = std::clamp(fit, kLeastTiles, kMostTiles);
    const int64_t share = (rows() + thread_count() - 1) / thread_count();
    block_rows =
        std::clamp<int64_t>(tiles / std::max<int64_t>(1, tiles_w), 1, std::max<int64_t>(1, share));
  }
  int64_t rows() const { return images * tiles_h; }
  int64_t filter_size() const { return form.taps * form.taps; }
  int64_t filter_stride() const { return groups * outputs * inputs + kWinogradSlack; }
};

/// [element][group][outputs][inputs]. A turned filter's inputs lie far apart, and some outputs of
/// each share a line of the cache.
void transform_filter(const Plan& p, const float* filter, float* out) {
  const int64_t size = p.filter_size(), most = p.turned ? kFilterLanes : p.inputs;
  parallel_for(p.groups * p.outputs, kFilterLanes, [&](int64_t begin, int64_t end) {
    for (int64_t c = 0; c < p.inputs; c += most)
      for (int64_t i = begin; i < end; ++i) {
        const int64_t k = i % p.outputs, step = p.turned ? p.outputs * size : size;
        const float* from = filter + ((i - k) * p.inputs + k * (p.turned ? 1 : p.inputs)) * size;
        conv::winograd_filters(p.form, from + c * step, std::min(most, p.inputs - c), step,
                               p.turned, out + i * p.inputs + c, p.filter_stride());
      }
  });
}

/// Some rows of tiles, of one image or several, in one group.
class Block {
 public:
  Block(const Plan& plan, int64_t group, int64_t row, int64_t rows)
      : p_(plan), group_(group), row_(row), rows_(rows), tiles_(rows * plan.tiles_w) {}

  void run(const float* x, const float* filter, const ConvArgs& args, float* y) const {
    const int64_t elements = p_.form.elements();
    const int64_t in_stride = p_.inputs * tiles_ + kWinogradSlack;
    const int64_t out_stride = p_.outputs * tiles_ + kWinogradSlack;
    float* in = conv::thread_scratch(0, elements * in_stride);
    float* out = conv::thread_scratch(1, elements * out_stride);
    float* scratch = conv::thread_scratch(2, conv::winograd_scratch_floats(p_.form, p_.tiles_w));
    for (int64_t c = 0; c < p_.inputs; ++c)
      each_image(in_stride, [&](int64_t image, const conv::WinogradTiles& tiles, int64_t offset) {
        const int64_t plane = (image * p_.groups + group_) * p_.inputs + c;
        conv::winograd_input(p_.form, tiles, x + plane * p_.h * p_.w, p_.h, p_.w, p_.top, p_.left,
                             scratch, in + c * tiles_ + offset);
      });
    cpu::gemm({.m = p_.outputs,
               .n = tiles_,
               .k = p_.inputs,
               .batch = elements,
               .a = filter + group_ * p_.outputs * p_.inputs,
               .lda = p_.inputs,
               .stride_a = p_.filter_stride(),
               .b = in,
               .ldb = tiles_,
               .stride_b = in_stride,
               .c = out,
               .ldc = tiles_,
               .stride_c = out_stride});
    const float* bias = args.bias ? args.bias->data<float>() + group_ * p_.outputs : nullptr;
    for (int64_t k = 0; k < p_.outputs; ++k)
      each_image(out_stride, [&](int64_t image, const conv::WinogradTiles& tiles, int64_t offset) {
        const int64_t plane = (image * p_.groups + group_) * p_.outputs + k;
        conv::winograd_output(p_.form, tiles, out + k * tiles_ + offset,
                              {bias ? bias[k] : 0.0f, args.activation, args.slope},
                              y + plane * p_.out_h * p_.out_w, p_.out_h, p_.out_w);
      });
  }

 private:
  /// Calls f(image, its tiles, the number of its first tile in the block).
  template <typename F>
  void each_image(int64_t stride, F f) const {
    for (int64_t done = 0; done < rows_;) {
      const int64_t image = (row_ + done) / p_.tiles_h, first = (row_ + done) % p_.tiles_h;
      const int64_t count = std::min(p_.tiles_h - first, rows_ - done);
      f(image, conv::WinogradTiles{first, count, p_.tiles_w, stride}, done * p_.tiles_w);
      done += count;
    }
  }

  const Plan& p_;
  int64_t group_, row_, rows_, tiles_;
};

class Winograd final : public ConvSolver {
 public:
  Winograd(std::string_view name, WinogradForm form) : name_(name), form_(form) {}

  std::string_view name() const override { return name_; }

  bool applicable(const ConvProblem& p) const override {
    constexpr std::array<int64_t, 2> kOne{1, 1};
    return p.direction != ConvDirection::backward_filter && p.r == form_.taps &&
           p.s == form_.taps && p.stride == kOne && p.dilation == kOne &&
           p.padding[0] < form_.taps && p.padding[1] < form_.taps && pays(p);
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    return static_cast<uint64_t>(form_.elements() * Plan(form_, p).filter_stride()) * sizeof(float);
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const Plan plan(form_, p);
    auto* filter = reinterpret_cast<float*>(args.workspace->overwrite<uint8_t>());
    transform_filter(plan, args.filter->data<float>(), filter);
    const float* x = (plan.turned ? args.y : args.x)->data<float>();
    float* y = (plan.turned ? args.x : args.y)->overwrite<float>();
    const int64_t blocks = (plan.rows() + plan.block_rows - 1) / plan.block_rows;
    parallel_for(plan.groups * blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t i = task % blocks, row = plan.rows() * i / blocks;
        Block(plan, task / blocks, row, plan.rows() * (i + 1) / blocks - row)
            .run(x, filter, args, y);
      }
    });
    if (args.activation != Activation::tanh && args.activation != Activation::sigmoid) return;
    const int64_t plane = plan.out_h * plan.out_w;
    parallel_for(plan.images * plan.groups * plan.outputs, 8, [&](int64_t begin, int64_t end) {
      cpu::gemm_kernels().finish({.activation = args.activation}, end - begin, plane,
                                 y + begin * plane, plane);
    });
  }

 private:
  /// Whether it is likely to be faster, by clock ticks as measured with 16 lanes: of transforms for
  /// each element and channel, of products that sum few terms and of those that sum many.
  bool pays(const ConvProblem& p) const {
    constexpr double kInput = 0.8, kOutput = 0.4, kFilter = 2.5, kShort = 2.0 / 45,
                     kLong = 1.0 / 51, kClearly = 0.85;
    const Plan plan(form_, p);
    const double in = static_cast<double>(plan.inputs), out = static_cast<double>(plan.outputs);
    const double tiles = static_cast<double>(plan.rows() * plan.tiles_w);
    const double element = tiles * (kShort * in * out + kInput * in + kOutput * out);
    return static_cast<double>(form_.elements() * plan.groups) * (element + kFilter * in * out) <
           kClearly * kLong * p.flops();
  }

  std::string_view name_;
  WinogradForm form_;
};

}  // namespace

std::span<const ConvSolver* const> winograd_solvers() {
  static const Winograd wide("winograd4x4_3x3", {4, 3});
  static const Winograd large("winograd2x2_5x5", {2, 5});
  static const Winograd exact("winograd2x2_3x3", {2, 3});
  static const ConvSolver* const solvers[] = {&wide, &large, &exact};
  return solvers;
}

}  // namespace kaiseki
