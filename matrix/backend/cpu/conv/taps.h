// SPDX-License-Identifier: MIT
// A convolution along one axis as a gather: output i is a sum over taps of weight[tap] * input[i *
// stride + offset[tap]]. Positions outside 0..in are zeros. Forward is one gather. Backward-data is
// one gather for each residue of the input modulo the stride.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

struct Taps {
  int64_t in = 0, out = 0, stride = 1;
  int64_t first = 0, step = 1;   // output i is element first + i * step of the axis
  std::vector<int64_t> offsets;  // one per tap, except taps that read only padding
  std::vector<int64_t> index;    // position of each tap in the filter
};

Taps forward_taps(int64_t in, int64_t out, int64_t filter, int64_t stride, int64_t padding,
                  int64_t dilation);
/// Returns whether some taps read only padding. forward_taps drops these taps. Solvers that need
/// all taps check this.
bool has_padding_only_taps(const ConvProblem& problem);
/// One gather for each residue that has elements. `in` and `out` are the sizes of the convolution.
std::vector<Taps> backward_taps(int64_t in, int64_t out, int64_t filter, int64_t stride,
                                int64_t padding, int64_t dilation);

/// The input rows that `count` output rows need, ordered so that each tap reads consecutive packed
/// rows.
struct PackedRows {
  std::vector<int64_t> rows;   // input row of each packed row, for output row 0
  std::vector<int64_t> start;  // packed row of output row 0, for each tap
};
PackedRows packed_rows(const Taps& taps, int64_t count);

}  // namespace kaiseki::conv
