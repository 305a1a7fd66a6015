// SPDX-License-Identifier: MIT
#include "matrix/backend/cpu/conv/filter_sums.h"

#include <algorithm>

#include "matrix/backend/cpu/conv/packed_kernels.h"
#include "matrix/ceil_div.h"
#include "matrix/threads.h"

namespace kaiseki::conv {
namespace {

constexpr int64_t kPieces = 4;
constexpr int64_t kTasks = 16;               // about the largest expected number of threads
constexpr int64_t kPartialFloats = 2 << 20;  // floats of all sums
// Smaller splits would repeat the packing of the input too often.
constexpr int64_t kSplitRows = 20;

}  // namespace

int64_t filter_size(const ConvProblem& p) { return p.k * (p.c / p.groups) * p.r * p.s; }

FilterPieces filter_pieces(const ConvProblem& p) {
  FilterPieces cut{};
  const int64_t group_k = p.k / p.groups;
  const int64_t room = kPartialFloats / std::max<int64_t>(1, filter_size(p));
  cut.pieces = std::clamp<int64_t>(std::min(p.n, room), 1, kPieces);
  cut.images = ceil_div(p.n, cut.pieces);
  const int64_t splits =
      std::clamp<int64_t>(kTasks / (cut.pieces * p.groups), 1, ceil_div(group_k, kSplitRows));
  const int64_t block = multiply_block(group_k);
  cut.rows = ceil_div(group_k, splits * block) * block;
  cut.splits = ceil_div(group_k, cut.rows);
  return cut;
}

uint64_t filter_sums_bytes(const ConvProblem& p) {
  return static_cast<uint64_t>(filter_pieces(p).pieces * filter_size(p)) * sizeof(float);
}

void sum_filter(const ConvProblem& p, const ConvArgs& args, bool channels_last,
                const SumPiece& piece) {
  const FilterPieces cut = filter_pieces(p);
  const int64_t size = filter_size(p), filter = size / p.k, group_k = p.k / p.groups;
  auto* sums = reinterpret_cast<float*>(args.workspace->overwrite<uint8_t>());
  parallel_for(cut.pieces * p.groups * cut.splits, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t index = i / (p.groups * cut.splits), group = i / cut.splits % p.groups;
      const int64_t k = i % cut.splits * cut.rows, rows = std::min(cut.rows, group_k - k);
      float* out = sums + index * size + (group * group_k + k) * filter;
      std::fill_n(out, rows * filter, 0.0f);
      const int64_t begin = std::min(p.n, index * cut.images),
                    end = std::min(p.n, begin + cut.images);
      if (begin < end) piece(begin, end, group, k, rows, out);
    }
  });
  float* out =
      args.beta == 0 ? args.filter->overwrite<float>() : args.filter->mutable_data<float>();
  const int64_t taps = p.r * p.s, channels = filter / taps;
  parallel_for(p.k, std::max<int64_t>(1, 16384 / filter), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * filter; i < end * filter; ++i)
      out[i] = args.beta == 0 ? 0 : args.beta * out[i];
    for (int64_t index = 0; index < cut.pieces; ++index) {
      const float* from = sums + index * size + begin * filter;
      float* to = out + begin * filter;
      if (!channels_last)
        for (int64_t i = 0; i < (end - begin) * filter; ++i) to[i] += from[i];
      else
        for (int64_t k = begin; k < end; ++k, to += filter)
          for (int64_t tap = 0; tap < taps; ++tap, from += channels)
            for (int64_t c = 0; c < channels; ++c) to[c * taps + tap] += from[c];
    }
  });
}

}  // namespace kaiseki::conv
