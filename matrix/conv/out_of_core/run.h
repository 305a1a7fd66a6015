// SPDX-License-Identifier: MIT
// Runs a convolution in pieces if its tensors do not fit the device. While one piece is computed,
// the next is copied to the device and the last result is copied back.
#pragma once

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// Copies x, y and the filter back to the device. Returns false if x or y finds no room. The
/// convolution must then run in pieces.
bool bring_back(const ConvArgs& args);

/// Computes the convolution as run_convolution() does. Throws OutOfMemory if the smallest piece
/// does not fit. It is a row of one input and one output channel, or of one group. If backward_data
/// has a stride of rows that is larger than the filter, this piece has all rows.
void run_in_pieces(Backend& backend, const ConvProblem& problem, const ConvArgs& args);

}  // namespace kaiseki::conv
