// SPDX-License-Identifier: MIT
// Backward-filter as dot products of rows of dy and rows of the packed input. The lanes hold
// pixels. Supports any problem; fastest with few input channels.
#include <algorithm>
#include <optional>
#include <vector>

#include "matrix/backend/cpu/conv/filter_sums.h"
#include "matrix/backend/cpu/conv/gather.h"
#include "matrix/backend/cpu/conv/packed_kernels.h"
#include "matrix/backend/cpu/conv/pooled.h"
#include "matrix/backend/cpu/conv/solvers.h"

namespace kaiseki {
namespace {

constexpr int64_t kDepth = 512;              // filter taps per block of channels
constexpr int64_t kUnitFloats = 160 * 1024;  // floats of packed input summed over at a time
// The number of floats of the gradient that are read through a pooling at a time.
constexpr int64_t kBandFloats = 256 * 1024;
constexpr int64_t kBandRows = 4;  // minimum number of rows that fit kBandFloats

conv::Gather gather(const ConvProblem& p) {
  return {p.c / p.groups,
          conv::forward_taps(p.h, p.out_h(), p.r, p.stride[0], p.padding[0], p.dilation[0]),
          conv::forward_taps(p.w, p.out_w(), p.s, p.stride[1], p.padding[1], p.dilation[1]),
          kDepth};
}

struct DotFilterTask {
  const ConvProblem& p;
  const conv::Gather gather;
  const std::vector<int64_t> positions;
  const float *x, *dy;
  const std::optional<conv::PoolingSource> pooling;  // set: replaces dy

  void sum(int64_t begin, int64_t end, int64_t group, int64_t k, int64_t rows, float* sums) const;
};

void DotFilterTask::sum(int64_t begin, int64_t end, int64_t group, int64_t k, int64_t rows,
                        float* sums) const {
  const int64_t channels = p.c / p.groups, in_plane = p.h * p.w, plane = p.out_h() * p.out_w();
  const int64_t first_k = group * (p.k / p.groups) + k;
  const int64_t unit = gather.in_place() ? p.c * in_plane : gather.packed_floats();
  const int64_t band_row = (gather.block_rows() + 2) * p.out_w();  // floats of one image
  const int64_t fit = gather.in_place() ? end - begin : kUnitFloats / unit;
  const int64_t most =
      std::clamp<int64_t>(std::min(fit, kBandFloats / (kBandRows * band_row)), 1, end - begin);
  float* packed = conv::thread_scratch(0, gather.in_place() ? 0 : most * unit);
  float* scratch = conv::thread_scratch(1, gather.scratch_floats());
  for (int64_t c = 0; c < channels; c += gather.block_channels()) {
    const int64_t count = std::min(gather.block_channels(), channels - c);
    for (int64_t row = 0; row < p.out_h(); row += gather.block_rows())
      for (int64_t image = begin; image < end; image += most) {
        const int64_t units = std::min(most, end - image);
        const float* first = nullptr;
        for (int64_t u = 0; u < units; ++u) {
          const float* from = x + ((image + u) * p.c + group * channels + c) * in_plane;
          float* to = gather.in_place() ? nullptr : packed + u * unit;
          const float* b = gather.pack(from, count, row, to, scratch);
          if (u == 0) first = b;
        }
        const int64_t height = std::min(gather.block_rows(), p.out_h() - row);
        const int64_t some =
            pooling ? std::clamp<int64_t>(kBandFloats / (units * band_row), 1, rows) : rows;
        for (int64_t i = 0; i < rows; i += some) {
          const int64_t m = std::min(some, rows - i), from = image * p.k + first_k + i;
          std::optional<conv::UnpooledRows> band;
          if (pooling) band.emplace(*pooling, from, m, row, row + height, units, p.k);
          const int64_t stride = band ? band->rows() * p.out_w() : plane;
          conv::correlate({.units = units,
                           .pixels = height * p.out_w(),
                           .y = band ? band->data() : dy + from * plane + row * p.out_w(),
                           .y_unit = (band ? m : p.k) * stride,
                           .ldy = stride,
                           .m = m,
                           .b = first,
                           .b_unit_stride = unit,
                           .offsets = gather.offsets().data(),
                           .positions = positions.data() + c * gather.taps(),
                           .taps = count * gather.taps(),
                           .out = sums + i * channels * p.r * p.s,
                           .ldo = channels * p.r * p.s});
        }
      }
  }
}

class DotFilter final : public ConvSolver {
 public:
  std::string_view name() const override { return "dot_filter"; }

  bool applicable(const ConvProblem& p) const override {
    return p.direction == ConvDirection::backward_filter;
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    return conv::filter_sums_bytes(p);
  }

  bool fuses_pooling(const ConvProblem&) const override { return true; }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const conv::Gather whole = gather(p);
    const DotFilterTask task{p,
                             whole,
                             whole.positions(p.s, p.r * p.s),
                             args.x->data<float>(),
                             args.pooling ? nullptr : args.y->data<float>(),
                             args.pooling
                                 ? std::optional<conv::PoolingSource>(std::in_place, *args.pooling)
                                 : std::nullopt};
    conv::sum_filter(p, args, false,
                     [&](int64_t begin, int64_t end, int64_t group, int64_t k, int64_t rows,
                         float* sums) { task.sum(begin, end, group, k, rows, sums); });
  }
};

}  // namespace

const ConvSolver& dot_filter_solver() {
  static const DotFilter solver;
  return solver;
}

}  // namespace kaiseki
