// SPDX-License-Identifier: MIT
// The columns of im2col: for each channel and tap, what each output pixel reads, and back.
#pragma once

#include <cstdint>

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// columns [channels][r][s][rows * out_w] of x [channels][h][w], for the output rows from
/// first_row.
void write_columns(const ConvProblem& p, const float* x, int64_t channels, int64_t first_row,
                   int64_t rows, float* columns);
/// The transpose: adds every value to the element of x that it would have been read from.
void add_columns(const ConvProblem& p, const float* columns, int64_t channels, int64_t first_row,
                 int64_t rows, float* x);

}  // namespace kaiseki::conv
