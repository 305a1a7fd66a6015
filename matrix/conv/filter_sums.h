// SPDX-License-Identifier: MIT
// What the backward-filter solvers share: the batch is cut in pieces that depend on the problem
// alone, each has its own sums, and those are added in order.
#pragma once

#include <cstdint>
#include <functional>

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

struct FilterPieces {
  int64_t pieces;  // of the batch
  int64_t images;  // of a piece
  int64_t splits;  // of the output channels of a group
  int64_t rows;    // of a split
};
FilterPieces filter_pieces(const ConvProblem& problem);

int64_t filter_size(const ConvProblem& problem);
uint64_t filter_sums_bytes(const ConvProblem& problem);

/// Rows k..k+rows of group `group`, images begin..end: adds to sums [k][c/groups * r * s].
using SumPiece = std::function<void(int64_t begin, int64_t end, int64_t group, int64_t k,
                                    int64_t rows, float* sums)>;

/// Runs every piece on the thread pool, then filter = sums + beta * filter. Value (channel, tap) of
/// a filter is at channel * r*s + tap in `sums`, or at tap * c/groups + channel when channels_last.
void sum_filter(const ConvProblem& problem, const ConvArgs& args, bool channels_last,
                const SumPiece& piece);

}  // namespace kaiseki::conv
