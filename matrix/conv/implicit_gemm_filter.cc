// SPDX-License-Identifier: MIT
// d filter[k][t] is a product of rows: those of dy with those of the packed input. The batch is cut
// in fixed pieces, each with its own sums, which are added in order.
#include <algorithm>
#include <vector>

#include "matrix/conv/gather.h"
#include "matrix/conv/implicit_gemm.h"
#include "matrix/conv/packed_kernels.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

constexpr int64_t kDepth = 512;
constexpr int64_t kUnitFloats = 128 * 1024;  // packed input that is summed over at a time
constexpr int64_t kPartialFloats = 2 << 20;  // all partial sums together
constexpr int64_t kPieces = 8;

conv::Gather gather(const ConvProblem& p) {
  return {p.c / p.groups,
          conv::forward_taps(p.h, p.out_h(), p.r, p.stride[0], p.padding[0], p.dilation[0]),
          conv::forward_taps(p.w, p.out_w(), p.s, p.stride[1], p.padding[1], p.dilation[1]),
          kDepth};
}

int64_t filter_size(const ConvProblem& p) { return p.k * (p.c / p.groups) * p.r * p.s; }

int64_t batch_pieces(const ConvProblem& p) {
  const int64_t room = kPartialFloats / std::max<int64_t>(1, filter_size(p));
  return std::clamp<int64_t>(std::min(p.n, room), 1, kPieces);
}

struct Task {
  const ConvProblem& p;
  const conv::Gather& gather;
  const std::vector<int64_t>& positions;
  const float *x, *dy;
};

/// Adds to `sums` (of the whole filter) what images begin..end give for rows k..k+rows of a group.
void sum_piece(const Task& t, int64_t begin, int64_t end, int64_t group, int64_t k, int64_t rows,
               float* sums) {
  const ConvProblem& p = t.p;
  const conv::Gather& gather = t.gather;
  const int64_t channels = p.c / p.groups, in_plane = p.h * p.w, plane = p.out_h() * p.out_w();
  const int64_t first_k = group * (p.k / p.groups) + k, filter = channels * p.r * p.s;
  const int64_t unit = gather.in_place() ? p.c * in_plane : gather.packed_floats();
  const int64_t most =
      gather.in_place() ? end - begin : std::clamp<int64_t>(kUnitFloats / unit, 1, end - begin);
  float* packed = conv::thread_scratch(0, gather.in_place() ? 0 : most * unit);
  float* scratch = conv::thread_scratch(1, gather.scratch_floats());
  for (int64_t c = 0; c < channels; c += gather.block_channels()) {
    const int64_t count = std::min(gather.block_channels(), channels - c);
    for (int64_t row = 0; row < p.out_h(); row += gather.block_rows())
      for (int64_t image = begin; image < end; image += most) {
        const int64_t units = std::min(most, end - image);
        const float* first = nullptr;
        for (int64_t u = 0; u < units; ++u) {
          const float* x = t.x + ((image + u) * p.c + group * channels + c) * in_plane;
          const float* b = gather.pack(x, count, row, packed + u * unit, scratch);
          if (u == 0) first = b;
        }
        conv::correlate({.units = units,
                         .pixels = std::min(gather.block_rows(), p.out_h() - row) * p.out_w(),
                         .y = t.dy + (image * p.k + first_k) * plane + row * p.out_w(),
                         .y_unit = p.k * plane,
                         .ldy = plane,
                         .m = rows,
                         .b = first,
                         .b_unit = unit,
                         .offsets = gather.offsets().data(),
                         .positions = t.positions.data() + c * gather.taps(),
                         .taps = count * gather.taps(),
                         .out = sums + first_k * filter,
                         .ldo = filter});
      }
  }
}

class ImplicitGemmFilter final : public ConvSolver {
 public:
  std::string_view name() const override { return "implicit_gemm_filter"; }

  bool applicable(const ConvProblem& p) const override {
    return p.direction == ConvDirection::backward_filter;
  }

  uint64_t workspace_bytes(const ConvProblem& p) const override {
    return static_cast<uint64_t>(batch_pieces(p) * filter_size(p)) * sizeof(float);
  }

  void run(const ConvProblem& p, const ConvArgs& args) const override {
    const conv::Gather whole = gather(p);
    const std::vector<int64_t> positions = whole.positions(p.s, p.r * p.s);
    const Task task{p, whole, positions, args.x->data<float>(), args.y->data<float>()};
    auto* partial = reinterpret_cast<float*>(args.workspace->overwrite<uint8_t>());
    const int64_t pieces = batch_pieces(p), images = (p.n + pieces - 1) / pieces;
    const int64_t size = filter_size(p), group_k = p.k / p.groups;
    const int64_t splits =
        std::clamp<int64_t>(kPieces / (pieces * p.groups), 1, (group_k + 19) / 20);
    const int64_t rows = (group_k + splits - 1) / splits;
    parallel_for(pieces * p.groups * splits, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t piece = i / (p.groups * splits), group = i / splits % p.groups;
        const int64_t k = std::min(group_k, i % splits * rows), count = std::min(rows, group_k - k);
        const int64_t filter = size / p.k;
        float* sums = partial + piece * size;
        std::fill_n(sums + (group * group_k + k) * filter, count * filter, 0.0f);
        const int64_t first = std::min(p.n, piece * images), last = std::min(p.n, first + images);
        if (first < last && count > 0) sum_piece(task, first, last, group, k, count, sums);
      }
    });
    add_pieces(
        partial, pieces, size, args.beta,
        args.beta == 0 ? args.filter->overwrite<float>() : args.filter->mutable_data<float>());
  }

 private:
  static void add_pieces(const float* partial, int64_t pieces, int64_t size, float beta,
                         float* out) {
    parallel_for(size, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = beta == 0 ? 0 : beta * out[i];
      for (int64_t piece = 0; piece < pieces; ++piece)
        for (int64_t i = begin; i < end; ++i) out[i] += partial[piece * size + i];
    });
  }
};

}  // namespace

const ConvSolver& implicit_gemm_filter_solver() {
  static const ImplicitGemmFilter solver;
  return solver;
}

}  // namespace kaiseki
