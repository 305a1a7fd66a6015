// SPDX-License-Identifier: MIT
// The pieces of a convolution that does not fit a device ("Out-of-core convolution", section 3). A
// piece is some images, some rows of y with the rows of x that they read, and some channels of
// both.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "matrix/conv/problem.h"
#include "matrix/out_of_core/size.h"

namespace kaiseki::conv {

/// Rows of one tensor in the whole problem, and in the piece.
struct PieceRows {
  int64_t first = 0, count = 0;  // in the whole tensor
  int64_t at = 0;                // the first row in the piece
  bool operator==(const PieceRows&) const = default;
};

struct ConvPiece {
  ConvProblem problem;  // without padding of rows
  int64_t first_image = 0, first_x_channel = 0, first_y_channel = 0;
  PieceRows x, y;
  /// Pieces that give the same elements of the result follow each other, except in backward_filter.
  /// Their results are added. `begins` and `ends` mark the first and the last of them. In
  /// backward_filter, `ends` is always true.
  bool begins = true, ends = true;
  /// Whether rows of the piece are padding, and therefore zero. Only x has padding.
  bool has_padding = false;

  /// Returns whether both pieces of a convolution have the same part of x, or of y.
  bool has_same_x(const ConvPiece& other) const {
    return has_same_rows(other) && first_x_channel == other.first_x_channel;
  }
  bool has_same_y(const ConvPiece& other) const {
    return has_same_rows(other) && first_y_channel == other.first_y_channel;
  }

 private:
  bool has_same_rows(const ConvPiece& other) const {
    return first_image == other.first_image && x == other.x && y == other.y;
  }
};

/// The images, the rows of y (backward_data: of x), and the channels of a piece. With groups, a
/// piece has the channels of whole groups.
struct PieceSize {
  int64_t images = 1, rows = 1, x_channels = 1, y_channels = 1;
};
/// The size of the smallest piece.
PieceSize smallest_piece(const ConvProblem& problem);

/// The number of all pieces.
int64_t piece_count(const ConvProblem& problem, const PieceSize& size);

/// The costs of a convolution's pieces. `seconds` are those of the whole convolution, if they are
/// known. They determine the rate of computing.
pieces::PieceCosts convolution_costs(const ConvProblem& problem, const DeviceRates& rates,
                                     std::optional<double> seconds);

/// Bytes of the tensors of the largest piece of this size. Without channels that are cut, these are
/// x and y. Otherwise a part of the filter or a part of a sum can be a tensor too.
uint64_t piece_bytes(const ConvProblem& problem, const PieceSize& size);

/// The time of all pieces, whose copies and computing overlap (section 3.3).
double predict_seconds(const ConvProblem& problem, const PieceSize& size,
                       const pieces::PieceCosts& costs);

/// Returns the size with the shortest predicted time. The tensors of a piece take at most
/// `most_bytes`.
/// Returns nothing if the smallest piece does not fit.
std::optional<PieceSize> choose_pieces(const ConvProblem& problem, uint64_t most_bytes,
                                       const pieces::PieceCosts& costs);

/// Divides the problem. Consecutive pieces share as much as possible. The channels that are summed
/// change first, then the channels of the result, then rows, then images.
std::vector<ConvPiece> divide(const ConvProblem& problem, const PieceSize& size);

}  // namespace kaiseki::conv
