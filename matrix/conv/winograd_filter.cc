// SPDX-License-Identifier: MIT
#include "matrix/conv/winograd_filter.h"

#include <algorithm>
#include <cstdlib>

#include "matrix/backend/cpu/gemm_kernel.h"
#include "matrix/conv/gather.h"
#include "matrix/threads.h"

namespace kaiseki::conv {
namespace {

static const int64_t kChunkFloats =
    getenv("CF") ? atoll(getenv("CF")) << 20 : 8 << 20;  // of tiles' elements at a time
static const int64_t kDepth =
    getenv("DP") ? atoll(getenv("DP")) : 256;  // tiles summed in registers
static const int64_t kBlockOutputs = getenv("BO") ? atoll(getenv("BO")) : 32,
                     kBlockPanels = getenv("BP") ? atoll(getenv("BP")) : 4;
constexpr int64_t kEnoughBlocks = 16;
constexpr int64_t kLine = 16;  // floats between elements, so that they differ in sets of the cache

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// How a problem is cut: tiles in chunks, and filters in blocks. By the problem alone.
struct Plan {
  const WinogradForm form;
  const ConvProblem& p;
  int64_t inputs, outputs;  // channels of a group
  int64_t tiles_h, tiles_w, chunk_rows, chunks;
  int64_t panel, panels;  // inputs that lie side by side
  int64_t block_outputs, block_panels, blocks_k, blocks_c;

  Plan(const WinogradForm& f, const ConvProblem& problem)
      : form(f),
        p(problem),
        inputs(p.c / p.groups),
        outputs(p.k / p.groups),
        tiles_h(ceil_div(p.out_h(), f.outputs)),
        tiles_w(ceil_div(p.out_w(), f.outputs)),
        panel(std::max<int64_t>(kWinogradChannels, cpu::gemm_kernels().columns())),
        panels(ceil_div(inputs, panel)),
        block_outputs(std::min(kBlockOutputs, winograd_padded(outputs))),
        block_panels(std::min(kBlockPanels, panels)),
        blocks_k(ceil_div(outputs, block_outputs)),
        blocks_c(ceil_div(panels, block_panels)) {
    const int64_t floats = p.groups * (panels * panel + winograd_padded(outputs)) * form.elements();
    const int64_t rows = std::clamp<int64_t>(kChunkFloats / (floats * tiles_w), 1, all_rows());
    chunks = ceil_div(all_rows(), rows);
    chunk_rows = ceil_div(all_rows(), chunks);
  }

  int64_t all_rows() const { return p.n * tiles_h; }
  int64_t tiles() const { return chunk_rows * tiles_w; }
  int64_t x_stride() const { return p.groups * panels * panel * tiles() + kLine; }
  int64_t y_stride() const { return p.groups * winograd_padded(outputs) * tiles() + kLine; }
  int64_t blocks() const { return p.groups * blocks_k * blocks_c; }
  int64_t pitch() const { return block_panels * panel; }
  int64_t sums_stride() const { return block_outputs * pitch() + kLine; }
  int64_t sums() const { return form.elements() * sums_stride(); }
  /// Whether a task computes all elements of a block.
  bool whole() const { return blocks() >= kEnoughBlocks; }
  bool keeps_sums() const { return chunks > 1 || !whole(); }
};

class Run {
 public:
  Run(const Plan& plan, const ConvArgs& args)
      : p_(plan),
        beta_(args.beta),
        x_(args.x->data<float>()),
        dy_(args.y->data<float>()),
        filter_(args.beta == 0 ? args.filter->overwrite<float>()
                               : args.filter->mutable_data<float>()),
        tiles_x_(reinterpret_cast<float*>(args.workspace->overwrite<uint8_t>())),
        tiles_y_(tiles_x_ + p_.form.elements() * p_.x_stride()),
        sums_(tiles_y_ + p_.form.elements() * p_.y_stride()) {}

  void run() {
    for (int64_t chunk = 0; chunk < p_.chunks; ++chunk) {
      row_ = chunk * p_.chunk_rows;
      rows_ = std::min(p_.chunk_rows, p_.all_rows() - row_);
      if (rows_ <= 0) break;
      transform();
      const bool last = row_ + rows_ == p_.all_rows();
      const int64_t parts = p_.whole() ? 1 : p_.form.elements();
      parallel_for(p_.blocks() * parts, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t block = i / parts;
          float* sums = p_.keeps_sums() ? sums_ + block * p_.sums() : thread_scratch(0, p_.sums());
          const int64_t first = i % parts, elements = p_.form.elements() / parts;
          for (int64_t e = first; e < first + elements; ++e)
            multiply(block, e, sums + e * p_.sums_stride());
          if (last && p_.whole()) finish(block, 0, p_.block_outputs, sums);
        }
      });
    }
    if (p_.whole()) return;
    parallel_for(p_.blocks() * p_.block_outputs, 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t block = i / p_.block_outputs, k = i % p_.block_outputs;
        finish(block, k, k + 1, sums_ + block * p_.sums());
      }
    });
  }

 private:
  struct Block {
    int64_t group, k, panel, outputs, panels;
  };
  Block block_of(int64_t index) const {
    const int64_t k = index / p_.blocks_c % p_.blocks_k * p_.block_outputs;
    const int64_t panel = index % p_.blocks_c * p_.block_panels;
    return {index / (p_.blocks_c * p_.blocks_k), k, panel,
            std::min(p_.block_outputs, p_.outputs - k),
            std::min(p_.block_panels, p_.panels - panel)};
  }

  /// x as [element][group][panel of inputs][tile][panel], and dy as [element][group][16
  /// outputs][tile][16].
  void transform() const {
    const int64_t parts_x = winograd_padded(p_.inputs) / kWinogradChannels;
    const int64_t parts_y = winograd_padded(p_.outputs) / kWinogradChannels;
    const int64_t parts = parts_x + parts_y;
    parallel_for(p_.p.groups * parts, 1, [&](int64_t begin, int64_t end) {
      float* scratch = thread_scratch(1, winograd_scratch_floats(p_.form, p_.tiles_w));
      for (int64_t i = begin; i < end; ++i)
        each_image(row_, rows_, p_.tiles_h,
                   [&](int64_t image, int64_t first, int64_t count, int64_t before) {
                     const int64_t group = i / parts, part = i % parts;
                     const int64_t plane = image * p_.p.groups + group;
                     const WinogradStrip strip{0, 0, 0, first, count, p_.tiles_w};
                     if (part < parts_x)
                       transform_x(strip, plane, group, part * kWinogradChannels,
                                   before * p_.tiles_w, scratch);
                     else
                       transform_y(strip, plane, group, (part - parts_x) * kWinogradChannels,
                                   before * p_.tiles_w, scratch);
                   });
    });
  }

  void transform_x(WinogradStrip strip, int64_t plane, int64_t group, int64_t c, int64_t tile,
                   float* scratch) const {
    strip.channels = std::min(kWinogradChannels, p_.inputs - c);
    strip.h = p_.p.h, strip.w = p_.p.w;
    float* to = tiles_x_ + ((group * p_.panels + c / p_.panel) * p_.tiles() + tile) * p_.panel +
                c % p_.panel;
    winograd_input(p_.form, strip, x_ + (plane * p_.inputs + c) * p_.p.h * p_.p.w, p_.p.padding[0],
                   p_.p.padding[1], scratch, to, {p_.panel, p_.x_stride()});
  }

  void transform_y(WinogradStrip strip, int64_t plane, int64_t group, int64_t k, int64_t tile,
                   float* scratch) const {
    strip.channels = std::min(kWinogradChannels, p_.outputs - k);
    strip.h = p_.p.out_h(), strip.w = p_.p.out_w();
    float* to = tiles_y_ + (group * winograd_padded(p_.outputs) + k) * p_.tiles() +
                tile * kWinogradChannels;
    winograd_gradient(p_.form, strip, dy_ + (plane * p_.outputs + k) * strip.h * strip.w, scratch,
                      to, {kWinogradChannels, p_.y_stride()});
  }

  /// Adds an element's products of all tiles to [outputs][inputs] of a block.
  void multiply(int64_t index, int64_t element, float* sums) const {
    const Block block = block_of(index);
    const auto& kernels = cpu::gemm_kernels();
    const int64_t step = kernels.rows >= 8 ? 8 : 4, tiles = rows_ * p_.tiles_w;
    const float* x = tiles_x_ + element * p_.x_stride() +
                     (block.group * p_.panels + block.panel) * p_.tiles() * p_.panel;
    const float* y = tiles_y_ + element * p_.y_stride() +
                     (block.group * winograd_padded(p_.outputs) + block.k) * p_.tiles();
    const int64_t inputs =
        std::min(block.panels * p_.panel, winograd_padded(p_.inputs) - block.panel * p_.panel);
    const int64_t pieces = ceil_div(tiles, kDepth);
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const int64_t tile = tiles * piece / pieces, depth = tiles * (piece + 1) / pieces - tile;
      const cpu::Scale scale{1, row_ + piece > 0 ? 1.0f : 0.0f};
      for (int64_t c = 0; c < inputs; c += kernels.columns()) {
        const int64_t vectors = std::min<int64_t>(2, (inputs - c) / kernels.lanes);
        const float* b = x + (c / p_.panel * p_.tiles() + tile) * p_.panel + c % p_.panel;
        for (int64_t k = 0; k < block.outputs; k += step) {
          const int64_t rows = std::min(step, block.outputs - k);
          const float* a = y + k / kWinogradChannels * kWinogradChannels * p_.tiles() +
                           tile * kWinogradChannels + k % kWinogradChannels;
          kernels.tile[0][vectors - 1][rows - 1](depth, a, kWinogradChannels, b, p_.panel, scale,
                                                 sums + k * p_.pitch() + c, p_.pitch());
        }
      }
    }
  }

  /// Filters of outputs begin..end of a block, from their sums.
  void finish(int64_t index, int64_t begin, int64_t end, const float* sums) const {
    const Block block = block_of(index);
    const int64_t c = block.panel * p_.panel, size = p_.form.taps * p_.form.taps;
    const int64_t count = std::min(block.panels * p_.panel, p_.inputs - c);
    for (int64_t k = begin; k < std::min(end, block.outputs); ++k)
      winograd_filter_gradient(
          p_.form, sums + k * p_.pitch(), p_.sums_stride(), count, beta_,
          filter_ + ((block.group * p_.outputs + block.k + k) * p_.inputs + c) * size);
  }

  const Plan& p_;
  const float beta_;
  const float *x_, *dy_;
  float *filter_, *tiles_x_, *tiles_y_, *sums_;
  int64_t row_ = 0, rows_ = 0;
};

}  // namespace

uint64_t winograd_filter_bytes(const WinogradForm& form, const ConvProblem& problem) {
  const Plan plan(form, problem);
  const int64_t tiles = form.elements() * (plan.x_stride() + plan.y_stride());
  const int64_t sums = plan.keeps_sums() ? plan.blocks() * plan.sums() : 0;
  return static_cast<uint64_t>(tiles + sums) * sizeof(float);
}

void run_winograd_filter(const WinogradForm& form, const ConvProblem& problem,
                         const ConvArgs& args) {
  const Plan plan(form, problem);
  Run(plan, args).run();
}

}  // namespace kaiseki::conv
