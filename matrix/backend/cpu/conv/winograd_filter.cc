// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/conv/winograd_filter.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "matrix/backend/cpu/conv/gather.h"
#include "matrix/backend/cpu/conv/pooled.h"
#include "matrix/backend/cpu/gemm_kernel.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"

namespace kaiseki::conv {
namespace {

constexpr int64_t kCacheFloats = 256 * 1024;  // half of a second-level cache
constexpr int64_t kDepth = 256;               // tiles summed in registers
constexpr int64_t kBlockOutputs = 128;        // outputs per task
constexpr int64_t kPieces = 8, kPieceChunks = 4;
// Floats of the sums of a piece, which share the cache with a chunk.
constexpr int64_t kPieceSums = kCacheFloats * 3 / 2;
// Extra floats between elements, so that they map to different cache sets.
constexpr int64_t kLine = 16;

/// Splits a problem into chunks of tiles and blocks of filters. Depends on the problem alone.
struct WinogradFilterPlan {
  const WinogradForm form;
  const ConvProblem& p;
  int64_t inputs, outputs;  // channels per group
  int64_t tiles_h, tiles_w;
  int64_t pieces, piece_rows, chunk_rows;  // rows of tiles
  int64_t panel, panels;                   // panel: number of inputs stored side by side
  int64_t block_outputs, blocks;           // outputs per block; blocks per group

  WinogradFilterPlan(const WinogradForm& f, const ConvProblem& problem)
      : form(f),
        p(problem),
        inputs(p.c / p.groups),
        outputs(p.k / p.groups),
        tiles_h(ceil_div(p.out_h(), f.outputs)),
        tiles_w(ceil_div(p.out_w(), f.outputs)),
        panel(std::max<int64_t>(kWinogradChannels, cpu::gemm_kernels().columns())),
        panels(ceil_div(inputs, panel)),
        block_outputs(std::min(kBlockOutputs, winograd_padded(outputs))),
        blocks(ceil_div(outputs, block_outputs)) {
    const int64_t channels = panels * panel + winograd_padded(outputs);
    const int64_t fit = kCacheFloats / (p.groups * channels * form.elements());
    const int64_t most = std::max(fit, inputs * outputs / channels);
    chunk_rows = std::clamp<int64_t>(most / tiles_w, 1, all_rows());
    const bool small = p.groups * blocks * sums() <= kPieceSums;
    pieces = small ? std::clamp<int64_t>(chunks(all_rows()) / kPieceChunks, 1, kPieces) : 1;
    piece_rows = ceil_div(all_rows(), pieces);
    pieces = ceil_div(all_rows(), piece_rows);
    chunk_rows = ceil_div(piece_rows, chunks(piece_rows));
  }

  int64_t chunks(int64_t rows) const { return ceil_div(rows, chunk_rows); }
  int64_t all_rows() const { return p.n * tiles_h; }
  int64_t tiles() const { return chunk_rows * tiles_w; }
  int64_t x_stride() const { return p.groups * panels * panel * tiles() + kLine; }
  int64_t y_stride() const { return p.groups * winograd_padded(outputs) * tiles() + kLine; }
  int64_t pitch() const { return panels * panel; }
  int64_t sums_stride() const { return block_outputs * pitch() + kLine; }
  int64_t sums() const { return form.elements() * sums_stride(); }
  int64_t piece_floats() const {
    return form.elements() * (x_stride() + y_stride()) + p.groups * blocks * sums();
  }
};

/// The sums of one part of the batch. If there are several parts, each part runs its tasks in
/// sequence.
class BatchPart {
 public:
  BatchPart(const WinogradFilterPlan& plan, const ConvArgs& args, float* workspace, int64_t index)
      : p_(plan),
        x_(args.x->data<float>()),
        dy_(args.pooling ? nullptr : args.y->data<float>()),
        tiles_x_(workspace + index * p_.piece_floats()),
        tiles_y_(tiles_x_ + p_.form.elements() * p_.x_stride()),
        sums_(tiles_y_ + p_.form.elements() * p_.y_stride()),
        begin_(std::min(p_.all_rows(), index * p_.piece_rows)),
        end_(std::min(p_.all_rows(), begin_ + p_.piece_rows)) {
    if (args.pooling) pooling_.emplace(*args.pooling);
  }

  /// Layout: [group and block][element][output][input].
  float* sums() const { return sums_; }

  void run() {
    for (row_ = begin_; row_ < end_; row_ += rows_) {
      rows_ = std::min(p_.chunk_rows, end_ - row_);
      transform();
      const int64_t elements = p_.form.elements();
      parallel_for(p_.p.groups * p_.blocks * elements, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) multiply(i / elements, i % elements);
      });
    }
  }

 private:
  /// Transforms x to [element][group][panel of inputs][tile][panel], and dy to [element][group][16
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
    const WinogradLayout layout{kWinogradChannels, p_.y_stride()};
    const int64_t first_plane = plane * p_.outputs + k;
    if (!pooling_)
      return winograd_gradient(p_.form, strip, dy_ + first_plane * strip.h * strip.w, scratch, to,
                               layout);
    const int64_t first = strip.tile_row * p_.form.outputs;
    const UnpooledRows dy(*pooling_, first_plane, strip.channels, first,
                          first + strip.tile_rows * p_.form.outputs);
    strip.h = dy.rows(), strip.tile_row = 0;
    winograd_gradient(p_.form, strip, dy.data(), scratch, to, layout);
  }

  /// Adds an element's products over all tiles of the chunk to the sums of a block.
  void multiply(int64_t index, int64_t element) const {
    const auto& kernels = cpu::gemm_kernels();
    const int64_t group = index / p_.blocks, first_k = index % p_.blocks * p_.block_outputs;
    const int64_t outputs = std::min(p_.block_outputs, p_.outputs - first_k);
    const int64_t step = kernels.rows >= 8 ? 8 : 4, tiles = rows_ * p_.tiles_w;
    const float* x = tiles_x_ + element * p_.x_stride() + group * p_.panels * p_.panel * p_.tiles();
    const float* y = tiles_y_ + element * p_.y_stride() +
                     (group * winograd_padded(p_.outputs) + first_k) * p_.tiles();
    float* sums = sums_ + index * p_.sums() + element * p_.sums_stride();
    const int64_t pieces = ceil_div(tiles, kDepth), inputs = winograd_padded(p_.inputs);
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const int64_t tile = tiles * piece / pieces, depth = tiles * (piece + 1) / pieces - tile;
      const cpu::Scale scale{1, row_ == begin_ && piece == 0 ? 0.0f : 1.0f};
      for (int64_t c = 0; c < inputs; c += kernels.columns()) {
        const int64_t vectors = std::min<int64_t>(2, (inputs - c) / kernels.lanes);
        const float* b = x + (c / p_.panel * p_.tiles() + tile) * p_.panel + c % p_.panel;
        for (int64_t k = 0; k < outputs; k += step) {
          const int64_t rows = std::min(step, outputs - k), lane = k % kWinogradChannels;
          const float* a = y + (k - lane) * p_.tiles() + tile * kWinogradChannels + lane;
          kernels.tile[0][vectors - 1][rows - 1](depth, a, kWinogradChannels, b, p_.panel, scale,
                                                 sums + k * p_.pitch() + c, p_.pitch());
        }
      }
    }
  }

  const WinogradFilterPlan& p_;
  const float *x_, *dy_;
  std::optional<PoolingSource> pooling_;  // set: replaces dy
  float *tiles_x_, *tiles_y_, *sums_;
  const int64_t begin_, end_;
  int64_t row_ = 0, rows_ = 0;
};

/// Adds the sums of all pieces to the sums of the first piece, in order, and transforms them to
/// filters.
void finish(const WinogradFilterPlan& p, const std::vector<BatchPart>& pieces,
            const ConvArgs& args) {
  float* filter =
      args.beta == 0 ? args.filter->overwrite<float>() : args.filter->mutable_data<float>();
  const int64_t size = p.inputs * p.form.taps * p.form.taps;
  parallel_for(p.p.k, 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t group = i / p.outputs, k = i % p.outputs;
      const int64_t at =
          (group * p.blocks + k / p.block_outputs) * p.sums() + k % p.block_outputs * p.pitch();
      float* sums = pieces[0].sums() + at;
      for (size_t piece = 1; piece < pieces.size(); ++piece)
        for (int64_t e = 0; e < p.form.elements(); ++e) {
          const float* from = pieces[piece].sums() + at + e * p.sums_stride();
          for (int64_t c = 0; c < winograd_padded(p.inputs); ++c)
            sums[e * p.sums_stride() + c] += from[c];
        }
      winograd_filter_gradient(p.form, sums, p.sums_stride(), p.inputs, args.beta,
                               filter + i * size);
    }
  });
}

}  // namespace

uint64_t winograd_filter_bytes(const WinogradForm& form, const ConvProblem& problem) {
  const WinogradFilterPlan plan(form, problem);
  return static_cast<uint64_t>(plan.pieces * plan.piece_floats()) * sizeof(float);
}

void run_winograd_filter(const WinogradForm& form, const ConvProblem& problem,
                         const ConvArgs& args) {
  const WinogradFilterPlan plan(form, problem);
  auto* workspace = reinterpret_cast<float*>(args.workspace->overwrite<uint8_t>());
  std::vector<BatchPart> pieces;
  for (int64_t i = 0; i < plan.pieces; ++i) pieces.emplace_back(plan, args, workspace, i);
  if (plan.pieces == 1)
    pieces[0].run();
  else
    parallel_for(plan.pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) pieces[static_cast<size_t>(i)].run();
    });
  finish(plan, pieces, args);
}

}  // namespace kaiseki::conv
