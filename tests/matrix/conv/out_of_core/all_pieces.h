// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <limits>

#include "matrix/conv/out_of_core/split.h"

namespace kaiseki::test {

/// The shortest predicted time of all sizes of pieces that fit. Tries each number of pieces along
/// each axis.
inline double best_of_all_pieces(const ConvProblem& p, uint64_t most_bytes,
                                 const pieces::PieceCosts& costs) {
  const bool data = p.direction == ConvDirection::backward_data;
  double best = std::numeric_limits<double>::infinity();
  for (const int64_t x : pieces::piece_sizes(p.c))
    for (const int64_t y : pieces::piece_sizes(p.k))
      for (const int64_t images : pieces::piece_sizes(p.n))
        for (const int64_t rows : pieces::piece_sizes(data ? p.h : p.out_h())) {
          const conv::PieceSize size{images, rows, x, y};
          if (conv::piece_bytes(p, size) > most_bytes) break;
          best = std::min(best, conv::predict_seconds(p, size, costs));
        }
  return best;
}

}  // namespace kaiseki::test
