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

/// The predicted time of the size that the paper's search finds ("Out-of-core convolution", section
/// 3.4). It fixes images, rows, channels of x and channels of y in this order. Infinity if that
/// size does not fit.
inline double best_by_one_axis_at_a_time(const ConvProblem& p, uint64_t most_bytes,
                                         const pieces::PieceCosts& costs) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const int64_t rows = p.direction == ConvDirection::backward_data ? p.h : p.out_h();
  conv::PieceSize size{p.n, rows, p.c, p.k};
  const auto seconds = [&] {
    return conv::piece_bytes(p, size) <= most_bytes ? conv::predict_seconds(p, size, costs)
                                                    : kNever;
  };
  for (int64_t conv::PieceSize::*const axis :
       {&conv::PieceSize::images, &conv::PieceSize::rows, &conv::PieceSize::x_channels,
        &conv::PieceSize::y_channels}) {
    int64_t best = 1;  // the next axes make it fit
    double shortest = kNever;
    for (const int64_t length : pieces::piece_sizes(size.*axis)) {
      size.*axis = length;
      if (const double now = seconds(); now < shortest) shortest = now, best = length;
    }
    size.*axis = best;
  }
  return seconds();
}

}  // namespace kaiseki::test
