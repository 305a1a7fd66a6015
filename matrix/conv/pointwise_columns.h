// SPDX-License-Identifier: MIT
// The columns of pointwise products: all output pixels of all samples, one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// Whether `p` is a 1x1 convolution without padding.
bool is_pointwise(const ConvProblem& p);

/// Neighbouring columns of one sample: in y they are neighbours from `y` on, in x from `x` on they
/// are `stride[1]` floats apart. Both are places in channel 0.
struct ColumnRun {
  int64_t first, count;  // from the first of the columns asked for
  int64_t x, y;
};

/// The runs of columns begin..end.
std::vector<ColumnRun> column_runs(const ConvProblem& p, int64_t begin, int64_t end);

/// The length of about equal pieces of at most `most` that cover `total`.
int64_t even_piece(int64_t total, int64_t most);

}  // namespace kaiseki::conv
