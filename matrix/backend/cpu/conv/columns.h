// SPDX-License-Identifier: MIT
// The columns of im2col: for each channel and tap, the values that the output pixels read. Also the
// transpose.
#pragma once

#include <cstdint>

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// Writes columns [channels][r][s][rows * out_w] of x [channels][h][w] for output rows from
/// first_row.
void write_columns(const ConvProblem& p, const float* x, int64_t channels, int64_t first_row,
                   int64_t rows, float* columns);
/// The transpose of write_columns(): adds each value to the element of x that write_columns() reads
/// it from.
void add_columns(const ConvProblem& p, const float* columns, int64_t channels, int64_t first_row,
                 int64_t rows, float* x);

}  // namespace kaiseki::conv
