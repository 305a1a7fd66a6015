// SPDX-License-Identifier: MIT
// Runs an operation in pieces if its tensors do not fit the device together. While one piece is
// computed, the next is copied to the device and the last result is copied back.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "matrix/backend/operation.h"
#include "matrix/memory/buffer.h"
#include "matrix/tensor.h"

namespace kaiseki::pieces {

/// A tensor of an operation.
struct PieceOperand {
  Tensor whole;                  // a view with the axes that are cut
  Access access = Access::read;  // write: the operation reads nothing of it
  std::vector<int> axes = {};    // for each cut: the axis of `whole` that is cut, or kWhole
  bool any_strides = false;      // otherwise the kernel reads contiguous parts
};

/// A way to cut an operation.
struct Cut {
  int64_t length = 0;
  /// The results of pieces are added. Their order differs from the whole operation's, so such a cut
  /// is used only if no other one has room.
  bool adds = false;
};

/// The range of a piece along the cut that is used.
struct PieceRange {
  size_t cut = 0;
  int64_t first = 0, length = 0;
};

struct Division {
  std::vector<Cut> cuts = {};
  std::vector<PieceOperand> operands = {};
  double multiply_adds = 0;    // of the whole operation
  uint64_t scratch_bytes = 0;  // of a tensor that the whole operation allocates
  /// A large tensor without free room stays outside. Its pieces need little room, so other tensors
  /// need not leave. For operations that are seldom repeated on the same tensor.
  bool streams = false;
};

/// Keeps the operands on the device. An operand that comes back then does not evict another.
std::vector<BufferHold> hold_operands(const Division& division);

/// Computes a piece, whose tensors have the order of the operands.
using RunPiece = std::function<void(std::span<Tensor> tensors, const PieceRange& range)>;

/// Runs all pieces in order. Operands that are the same view share a piece. Throws OutOfMemory if
/// the smallest piece has no room.
void run_in_pieces(std::string_view operation, Device device, const Division& division,
                   const RunPiece& run);

}  // namespace kaiseki::pieces
