// SPDX-License-Identifier: MIT
#include "matrix/conv/winograd.h"

#include <algorithm>

#include "matrix/backend/cpu/gemm.h"
#include "matrix/backend/cpu/gemm_kernel.h"
#include "matrix/conv/gather.h"
#include "matrix/conv/winograd_kernels.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

using conv::kWinogradElements;
using conv::kWinogradSlack;

constexpr int64_t kBlockFloats = 512 * 1024;  // of transformed input and output: about an L2 cache
constexpr int64_t kLeastTiles = 96;           // of a block, below which its products are too narrow
constexpr int64_t kMostTiles = 512;
constexpr int64_t kLeastChannels = 16;  // below this the transforms cost more than they save

/// Forward and backward-data as one form: y = x correlated with the filter.
struct Form {
  int64_t images, inputs, h, w, outputs, out_h, out_w, top, left;
  bool turned;  // the filter is read backwards, and its two channel dimensions are swapped
  int64_t tiles_h, tiles_w, block_rows;

  explicit Form(const ConvProblem& p) : images(p.n), turned(false) {
    turned = p.direction == ConvDirection::backward_data;
    inputs = turned ? p.k : p.c, outputs = turned ? p.c : p.k;
    h = turned ? p.out_h() : p.h, w = turned ? p.out_w() : p.w;
    out_h = turned ? p.h : p.out_h(), out_w = turned ? p.w : p.out_w();
    top = turned ? 2 - p.padding[0] : p.padding[0], left = turned ? 2 - p.padding[1] : p.padding[1];
    tiles_h = (out_h + 3) / 4, tiles_w = (out_w + 3) / 4;
    const int64_t fit = kBlockFloats / (kWinogradElements * (inputs + outputs));
    const int64_t tiles = std::clamp(fit, kLeastTiles, kMostTiles);
    const int64_t share = (rows() + thread_count() - 1) / thread_count();
    block_rows =
        std::clamp<int64_t>(tiles / std::max<int64_t>(1, tiles_w), 1, std::max<int64_t>(1, share));
  }
  int64_t rows() const { return images * tiles_h; }
};

int64_t filter_stride(const ConvProblem& p) { return p.k * p.c + kWinogradSlack; }

/// [36][outputs][inputs]
void transform_filter(const Form& f, const float* filter, float* out, int64_t stride) {
  parallel_for(f.outputs, 8, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k)
      conv::winograd_filters(filter + (f.turned ? k : k * f.inputs) * 9, f.inputs,
                             f.turned ? f.outputs * 9 : 9, f.turned, out + k * f.inputs, stride);
  });
}

/// Some rows of tiles, of one image or several.
class Block {
 public:
  Block(const Form& form, int64_t filter_stride, int64_t row, int64_t rows)
      : f_(form),
        filter_stride_(filter_stride),
        row_(row),
        rows_(rows),
        tiles_(rows * form.tiles_w) {}

  void run(const float* x, const float* filter, const ConvArgs& args, float* y) const {
    const int64_t in_stride = f_.inputs * tiles_ + kWinogradSlack;
    const int64_t out_stride = f_.outputs * tiles_ + kWinogradSlack;
    float* in = conv::thread_scratch(0, kWinogradElements * in_stride);
    float* out = conv::thread_scratch(1, kWinogradElements * out_stride);
    float* scratch = conv::thread_scratch(2, conv::winograd_row_floats(f_.tiles_w));
    for (int64_t c = 0; c < f_.inputs; ++c)
      each_image(
          [&](int64_t image, const conv::WinogradTiles& tiles, int64_t offset) {
            conv::winograd_input(tiles, x + (image * f_.inputs + c) * f_.h * f_.w, f_.h, f_.w,
                                 f_.top, f_.left, scratch, in + c * tiles_ + offset);
          },
          in_stride);
    cpu::gemm({.m = f_.outputs,
               .n = tiles_,
               .k = f_.inputs,
               .batch = kWinogradElements,
               .a = filter,
               .lda = f_.inputs,
               .stride_a = filter_stride_,
               .b = in,
               .ldb = tiles_,
               .stride_b = in_stride,
               .c = out,
               .ldc = tiles_,
               .stride_c = out_stride});
    const float* bias = args.bias ? args.bias->data<float>() : nullptr;
    for (int64_t k = 0; k < f_.outputs; ++k)
      each_image(
          [&](int64_t image, const conv::WinogradTiles& tiles, int64_t offset) {
            conv::winograd_output(tiles, out + k * tiles_ + offset,
                                  {bias ? bias[k] : 0.0f, args.activation, args.slope},
                                  y + (image * f_.outputs + k) * f_.out_h * f_.out_w, f_.out_h,
                                  f_.out_w);
          },
          out_stride);
  }

 private:
  /// Calls f(image, its tiles, the number of its first tile in the block).
  template <typename F>
  void each_image(F f, int64_t stride) const {
    for (int64_t done = 0; done < rows_;) {
      const int64_t image = (row_ + done) / f_.tiles_h, first = (row_ + done) % f_.tiles_h;
      const int64_t count = std::min(f_.tiles_h - first, rows_ - done);
      f(image, conv::WinogradTiles{first, count, f_.tiles_w, stride}, done * f_.tiles_w);
      done += count;
    }
  }

  const Form& f_;
  int64_t filter_stride_, row_, rows_, tiles_;
};

class Winograd final : public ConvSolver {
 public:
  std::string_view name() const override { return "winograd"; }

  bool applicable(const ConvProblem& p) const override {
    const bool simple = p.r == 3 && p.s == 3 && p.stride == std::array<int64_t, 2>{1, 1} &&
                        p.dilation == p.stride && p.groups == 1 && p.padding[0] <= 2 &&
                        p.padding[1] <= 2;
    return simple && p.direction != ConvDirection::backward_filter && pays(p);
  }

  /// Whether it computes less, what it costs to transform the filter and to read it again counted
  /// as so many products.
  static bool pays(const ConvProblem& p) {
    constexpr double kFilter = 2000;
    const Form form(p);
    const double tiles = static_cast<double>(form.rows() * form.tiles_w);
    const double pixels = static_cast<double>(form.images * form.out_h * form.out_w);
    return p.c >= kLeastChannels && p.k >= kLeastChannels &&
           1.2 * (kWinogradElements * tiles + kFilter) < 9 * pixels;
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    return static_cast<uint64_t>(kWinogradElements * filter_stride(p)) * sizeof(float);
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const Form form(p);
    auto* filter = reinterpret_cast<float*>(args.workspace->overwrite<uint8_t>());
    transform_filter(form, args.filter->data<float>(), filter, filter_stride(p));
    const float* x = (form.turned ? args.y : args.x)->data<float>();
    float* y = (form.turned ? args.x : args.y)->overwrite<float>();
    const int64_t blocks = (form.rows() + form.block_rows - 1) / form.block_rows;
    parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = form.rows() * i / blocks;
        Block(form, filter_stride(p), row, form.rows() * (i + 1) / blocks - row)
            .run(x, filter, args, y);
      }
    });
    if (args.activation == Activation::tanh || args.activation == Activation::sigmoid)
      cpu::gemm_kernels().finish({.activation = args.activation}, form.images * form.outputs,
                                 form.out_h * form.out_w, y, form.out_h * form.out_w);
  }
};

}  // namespace

const ConvSolver& winograd_solver() {
  static const Winograd solver;
  return solver;
}

}  // namespace kaiseki
