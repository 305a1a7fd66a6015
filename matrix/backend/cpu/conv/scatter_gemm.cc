// SPDX-License-Identifier: MIT
// Scatter GEMM: backward-data as the transpose of implicit GEMM. Products of dy and the filter are
// added to the packed form of dx directly from registers. The packed form is then unpacked. No
// product with padding is computed. This is faster if the filter is large compared to the output.
#include <algorithm>
#include <vector>

#include "matrix/backend/cpu/conv/gather.h"
#include "matrix/backend/cpu/conv/packed_kernels.h"
#include "matrix/backend/cpu/conv/solvers.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kRows = 512;   // rows of packed dx per block of channels
constexpr int64_t kDepth = 256;  // channels of dy summed in registers
constexpr int64_t kVector = 16;

conv::Gather gather(const ConvProblem& p) {
  conv::Gather gather(
      p.c / p.groups,
      conv::forward_taps(p.h, p.out_h(), p.r, p.stride[0], p.padding[0], p.dilation[0]),
      conv::forward_taps(p.w, p.out_w(), p.s, p.stride[1], p.padding[1], p.dilation[1]), kRows);
  gather.always_copy();
  return gather;
}

/// The multiplications of this solver for an image and group. Additions count as multiplications.
double scatter_work(const ConvProblem& p) {
  const int64_t rows = p.c / p.groups * p.r * p.s;
  return 1.1 * static_cast<double>(round_up(rows, conv::multiply_block(rows)) *
                                   (p.k / p.groups + 4) * round_up(p.out_h() * p.out_w(), kVector));
}

/// The multiplications of gathering: for each residue modulo the stride, its taps times its pixels.
double gather_work(const ConvProblem& p) {
  const int64_t m = p.c / p.groups;
  const int64_t rows = std::max<int64_t>(4, round_up(m, conv::multiply_block(m)));
  double work = 0;
  for (const auto& y :
       conv::backward_taps(p.h, p.out_h(), p.r, p.stride[0], p.padding[0], p.dilation[0]))
    for (const auto& x :
         conv::backward_taps(p.w, p.out_w(), p.s, p.stride[1], p.padding[1], p.dilation[1]))
      work += static_cast<double>(static_cast<int64_t>(y.offsets.size() * x.offsets.size()) *
                                  (p.k / p.groups) * rows * round_up(y.out * x.out, kVector));
  return work;
}

struct ScatterLayout {
  const ConvProblem& p;
  conv::Gather gather;
  int64_t channels, group_k, taps, block;
  explicit ScatterLayout(const ConvProblem& problem)
      : p(problem),
        gather(kaiseki::gather(problem)),
        channels(p.c / p.groups),
        group_k(p.k / p.groups),
        taps(p.r * p.s),
        block(conv::multiply_block(gather.block_channels() * taps)) {}

  /// Stored rows of packed dx for `count` channels.
  int64_t rows(int64_t count) const { return round_up(count * taps, block); }
  int64_t blocks() const { return ceil_div(channels, gather.block_channels()); }
  int64_t count(int64_t index) const {
    return std::min(gather.block_channels(), channels - index * gather.block_channels());
  }
  int64_t block_floats() const { return rows(gather.block_channels()) * group_k; }
};

/// Row i of a block of `count` channels is (r, s, channel), so neighboring rows are in different
/// planes.
struct Row {
  int64_t r, s, channel;
};
Row row_of(const ConvProblem& p, int64_t count, int64_t i) {
  return {i / (p.s * count), i / count % p.s, i % count};
}

/// Layout: [group][block of channels][piece of k][block of rows][k][row].
void pack_filter(const ScatterLayout& t, const float* filter, float* out) {
  const int64_t blocks = t.blocks();
  parallel_for(t.p.groups * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t index = task % blocks, count = t.count(index), rows = count * t.taps;
      const float* from = filter + task / blocks * t.group_k * t.channels * t.taps;
      std::vector<int64_t> positions(static_cast<size_t>(rows));
      for (int64_t i = 0; i < rows; ++i) {
        const Row row = row_of(t.p, count, i);
        const int64_t channel = index * t.gather.block_channels() + row.channel;
        positions[static_cast<size_t>(i)] = channel * t.taps + row.r * t.p.s + row.s;
      }
      float* to = out + task * t.block_floats();
      for (int64_t k0 = 0; k0 < t.group_k; k0 += kDepth)
        for (int64_t first = 0; first < rows; first += t.block) {
          const int64_t whole = std::min(t.block, rows - first);
          const int64_t* position = positions.data() + first;
          for (int64_t k = k0; k < std::min(t.group_k, k0 + kDepth); ++k, to += t.block) {
            for (int64_t i = 0; i < whole; ++i) to[i] = from[k * t.channels * t.taps + position[i]];
            for (int64_t i = whole; i < t.block; ++i) to[i] = 0;
          }
        }
    }
  });
}

std::vector<int64_t> row_offsets(const ScatterLayout& t, int64_t count) {
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < count * t.taps; ++i) {
    const Row row = row_of(t.p, count, i);
    offsets.push_back(t.gather.offsets()[(row.channel * t.p.s + row.s) * t.p.r + row.r]);
  }
  return offsets;
}

class ScatterGemm final : public ConvSolver {
 public:
  std::string_view name() const override { return "scatter_gemm"; }

  /// Applies if it needs fewer multiply-adds than implicit GEMM.
  bool applicable(const ConvProblem& p) const override {
    return p.direction == ConvDirection::backward_data && !conv::has_padding_only_taps(p) &&
           scatter_work(p) < gather_work(p);
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    const ScatterLayout layout(p);
    return static_cast<uint64_t>(p.groups * layout.blocks() * layout.block_floats()) *
           sizeof(float);
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const ScatterLayout layout(p);
    auto* packed = reinterpret_cast<float*>(args.workspace->overwrite<uint8_t>());
    pack_filter(layout, args.filter->data<float>(), packed);
    const float* dy = args.y->data<float>();
    float* dx = args.x->overwrite<float>();
    const int64_t blocks = layout.blocks(), plane = p.out_h() * p.out_w();
    std::vector<std::vector<int64_t>> offsets;
    for (int64_t i = 0; i < blocks; ++i) offsets.push_back(row_offsets(layout, layout.count(i)));
    parallel_for(p.n * p.groups * blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t image_group = task / blocks, index = task % blocks;
        const int64_t group = image_group % p.groups;
        const int64_t channel =
            image_group * layout.channels + index * layout.gather.block_channels();
        scatter(layout, index, packed + (group * blocks + index) * layout.block_floats(),
                offsets[static_cast<size_t>(index)], dy + image_group * layout.group_k * plane,
                dx + channel * p.h * p.w);
      }
    });
  }

 private:
  static void scatter(const ScatterLayout& t, int64_t index, const float* filter,
                      const std::vector<int64_t>& rows, const float* dy, float* dx) {
    const ConvProblem& p = t.p;
    const int64_t count = t.count(index), floats = t.gather.packed_floats();
    const int64_t plane = p.out_h() * p.out_w();
    float* packed = conv::thread_scratch(0, floats + conv::kPackSlack) + conv::kPackSlack;
    std::fill_n(dx, count * p.h * p.w, 0.0f);
    for (int64_t row = 0; row < p.out_h(); row += t.gather.block_rows()) {
      const int64_t pixels = std::min(t.gather.block_rows(), p.out_h() - row) * p.out_w();
      std::fill_n(packed, floats, 0.0f);
      for (int64_t k = 0; k < t.group_k; k += kDepth) {
        const int64_t depth = std::min(kDepth, t.group_k - k);
        const float* from = dy + k * plane + row * p.out_w();
        int64_t pitch = plane;
        if (pixels % kVector != 0) {
          pitch = round_up(pixels, kVector);
          float* copy = conv::thread_scratch(1, depth * pitch);
          for (int64_t i = 0; i < depth; ++i)
            std::copy_n(from + i * plane, pixels, copy + i * pitch);
          from = copy;
        }
        int64_t offsets[kDepth];
        for (int64_t i = 0; i < depth; ++i) offsets[i] = i * pitch;
        conv::multiply({.a = filter + k * t.rows(count),
                        .m = count * t.taps,
                        .block = t.block,
                        .depth = depth,
                        .b = from,
                        .offsets = offsets,
                        .pixels = pixels,
                        .c = packed,
                        .ldc = 0,
                        .rows = rows.data(),
                        .accumulate = true,
                        .finish = false,
                        .bias = nullptr,
                        .activation = Activation::none,
                        .slope = 0});
      }
      t.gather.unpack(packed, count, row, dx);
    }
  }
};

}  // namespace

const ConvSolver& scatter_gemm_solver() {
  static const ScatterGemm solver;
  return solver;
}

}  // namespace kaiseki
