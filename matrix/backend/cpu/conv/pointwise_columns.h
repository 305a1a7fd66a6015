// SPDX-License-Identifier: MIT
// The columns of pointwise products: the output pixels of all samples in order.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// Whether `p` is a 1x1 convolution without padding.
bool is_pointwise(const ConvProblem& p);

/// Neighboring columns of one sample. In y they are contiguous from `y` on. In x they start at `x`
/// and are `stride[1]` floats apart. Both offsets are in channel 0.
struct ColumnRun {
  int64_t first, count;  // first is relative to the first requested column
  int64_t x, y;
};

/// Returns the runs of columns begin..end.
std::vector<ColumnRun> column_runs(const ConvProblem& p, int64_t begin, int64_t end);

/// The piece length, at most `most`, that splits `total` into nearly equal pieces.
int64_t balanced_piece(int64_t total, int64_t most);

}  // namespace kaiseki::conv
