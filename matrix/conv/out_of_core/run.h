// SPDX-License-Identifier: MIT
// Runs a convolution whose tensors do not fit the device: piece by piece, while the next piece is
// copied to the device and the last result is copied back.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// Returns whether x or y is outside the device and finds no room there. If both find room, copies
/// them back. A CPU has no pieces.
bool needs_pieces(const ConvArgs& args);

/// Computes the convolution as run_convolution() does. Throws OutOfMemory if not even the smallest
/// piece fits: a row of one input and one output channel, or of one group. If backward_data has a
/// stride of rows that is larger than the filter, that piece has all rows.
void run_in_pieces(Backend& backend, const ConvProblem& problem, const ConvArgs& args);

}  // namespace kaiseki::conv
