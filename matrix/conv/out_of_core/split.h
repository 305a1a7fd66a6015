// SPDX-License-Identifier: MIT
// The pieces of a convolution that does not fit a device ("Out-of-core convolution", section 3): a
// piece is some images and some rows of y, with the rows of x that they read.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "matrix/conv/problem.h"

namespace kaiseki::conv {

/// Rows of one tensor in the whole problem, and in the piece.
struct PieceRows {
  int64_t first = 0, count = 0;  // in the whole tensor
  int64_t at = 0;                // the first row in the piece
};

struct ConvPiece {
  ConvProblem problem;  // without padding of rows
  int64_t first_image = 0;
  PieceRows x, y;
  /// Rows of the piece that are padding, so they are zero. Only x has them.
  bool has_padding = false;
};

/// The images and the rows of y (backward_data: of x) of a piece.
struct PieceSize {
  int64_t images = 1, rows = 1;
};

/// The pieces that have room at the same time: three whose copies and computing overlap, and as
/// many for the workspace.
inline constexpr uint64_t kPiecesAtOnce = 6;

/// Bytes of the tensors x and y of the largest piece of this size.
uint64_t piece_bytes(const ConvProblem& problem, const PieceSize& size);

/// Seconds for one byte, one copy and one multiply-add.
struct PieceCosts {
  double to_device = 0, to_host = 0, copy = 0, multiply_add = 0;
};

/// The time of all pieces, whose copies and computing overlap. The longest of the three takes its
/// time for every piece, and the others take theirs for one.
double predict_seconds(const ConvProblem& problem, const PieceSize& size, const PieceCosts& costs);

/// Returns the size of the shortest predicted time, of which kPiecesAtOnce fit `room` bytes.
/// Returns nothing if not even a row fits.
std::optional<PieceSize> choose_pieces(const ConvProblem& problem, uint64_t room,
                                       const PieceCosts& costs);

/// Divides the problem. The pieces cover every element of the result once. In backward_filter their
/// results are added.
std::vector<ConvPiece> divide(const ConvProblem& problem, const PieceSize& size);

}  // namespace kaiseki::conv
