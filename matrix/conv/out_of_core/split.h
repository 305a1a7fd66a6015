// SPDX-License-Identifier: MIT
// The pieces of a convolution that does not fit a device ("Out-of-core convolution", section 3): a
// piece is some images and some rows of y, with the rows of x that they read.
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

/// The pieces that have room at the same time. The others are for the workspace.
inline constexpr uint64_t kPiecesAtOnce = 2 * pieces::kPiecesAtOnce;

/// Bytes of the tensors x and y of the largest piece of this size.
uint64_t piece_bytes(const ConvProblem& problem, const PieceSize& size);

/// The time of all pieces, whose copies and computing overlap.
double predict_seconds(const ConvProblem& problem, const PieceSize& size,
                       const pieces::PieceCosts& costs);

/// Returns the size with the shortest predicted time. kPiecesAtOnce pieces fit `room` bytes.
/// Returns nothing if not even a row fits.
std::optional<PieceSize> choose_pieces(const ConvProblem& problem, uint64_t room,
                                       const pieces::PieceCosts& costs);

/// Divides the problem. The pieces cover every element of the result once. In backward_filter their
/// results are added.
std::vector<ConvPiece> divide(const ConvProblem& problem, const PieceSize& size);

}  // namespace kaiseki::conv
