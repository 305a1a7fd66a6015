// SPDX-License-Identifier: MIT
// The sums of backward-filter solvers. The batch is split into pieces by the problem alone. Each
// piece has its own sums. The sums are added in order.
#pragma once

#include <cstdint>
#include <functional>

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

struct FilterPieces {
  int64_t pieces;  // pieces of the batch
  int64_t images;  // images per piece
  int64_t splits;  // splits of the output channels of a group
  int64_t rows;    // rows per split
};
FilterPieces filter_pieces(const ConvProblem& problem);

int64_t filter_size(const ConvProblem& problem);
uint64_t filter_sums_bytes(const ConvProblem& problem);

/// Adds rows k..k+rows of group `group`, images begin..end, to sums [k][c/groups * r * s].
using SumPiece = std::function<void(int64_t begin, int64_t end, int64_t group, int64_t k,
                                    int64_t rows, float* sums)>;

/// Runs every piece on the thread team, then sets filter = sums + beta * filter. Value (channel,
/// tap) of a filter is at channel * r*s + tap in `sums`. If channels_last is set, it is at tap *
/// c/groups + channel.
void sum_filter(const ConvProblem& problem, const ConvArgs& args, bool channels_last,
                const SumPiece& piece);

}  // namespace kaiseki::conv
