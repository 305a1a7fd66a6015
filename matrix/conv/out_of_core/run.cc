// SPDX-License-Identifier: MIT
#include "matrix/conv/out_of_core/run.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "matrix/backend/backend.h"
#include "matrix/backend/operations/copy.h"
#include "matrix/conv/out_of_core/split.h"
#include "matrix/conv/select.h"
#include "matrix/memory/allocator.h"
#include "matrix/out_of_core/copies.h"
#include "matrix/out_of_core/size.h"

namespace kaiseki::conv {
namespace {

/// The part of a tensor [n, channels, rows, columns] that is in a piece.
Tensor part_of(const Tensor& whole, const ConvPiece& piece, const PieceRows& rows) {
  return whole.slice(0, piece.first_image, piece.problem.n).slice(2, rows.first, rows.count);
}

void copy_rows_to(Tensor& piece_tensor, const Tensor& whole, const ConvPiece& piece,
                  const PieceRows& rows) {
  if (!rows.count) return;
  Tensor to = piece_tensor.slice(2, rows.at, rows.count);
  pieces::copy_to_piece(part_of(whole, piece, rows), to);
}

void copy_rows_from(const Tensor& piece_tensor, const Tensor& whole, const ConvPiece& piece,
                    const PieceRows& rows) {
  Tensor to = part_of(whole, piece, rows);
  pieces::copy_from_piece(to, piece_tensor.slice(2, rows.at, rows.count));
}

class ConvPieceRunner {
 public:
  ConvPieceRunner(Backend& backend, const ConvArgs& args) : backend_(backend), args_(args) {}

  /// Copies each piece to the device while the one before is computed.
  void run(const std::vector<ConvPiece>& all) {
    for (size_t i = 0; i <= all.size(); ++i) {
      last_ = std::exchange(now_, std::exchange(next_, {}));
      if (i < all.size()) start(all[i]);
      if (i > 0) finish(all[i - 1], i == 1);
    }
  }

 private:
  struct ConvPieceTensors {
    Tensor x = {}, y = {};
  };

  /// Throws OutOfMemory if there is no room on the device.
  Tensor on_device(const Shape& shape) const {
    Tensor tensor(shape, DType::f32, backend_.device());
    tensor.buffer().return_to_device();
    return tensor;
  }

  ConvPieceTensors tensors_of(const ConvPiece& piece) const {
    const ConvProblem& p = piece.problem;
    return {.x = on_device({p.n, p.c, p.h, p.w}),
            .y = on_device({p.n, p.k, piece.y.count, p.out_w()})};
  }

  void start(const ConvPiece& piece) {
    const ConvProblem& p = piece.problem;
    try {
      next_ = tensors_of(piece);
    } catch (const OutOfMemory&) {
      if (!last_.x.defined()) throw;
      last_ = {};
      next_ = tensors_of(piece);
    }
    if (piece.has_padding) backend_.run(kFill, {&next_.x, 0});
    if (p.direction != ConvDirection::backward_data)
      copy_rows_to(next_.x, *args_.x, piece, piece.x);
    if (p.direction != ConvDirection::forward) copy_rows_to(next_.y, *args_.y, piece, piece.y);
  }

  void finish(const ConvPiece& piece, bool is_first) {
    const ConvDirection direction = piece.problem.direction;
    ConvArgs args = args_;
    args.x = &now_.x;
    args.y = &now_.y;
    if (direction == ConvDirection::backward_filter && !is_first) args.beta = 1;
    if (piece.y.count)
      run_convolution(backend_, piece.problem, args);
    else
      backend_.run(kFill, {&now_.x, 0});  // rows of x that no filter reads
    if (direction == ConvDirection::forward) copy_rows_from(now_.y, *args_.y, piece, piece.y);
    if (direction == ConvDirection::backward_data) copy_rows_from(now_.x, *args_.x, piece, piece.x);
  }

  Backend& backend_;
  const ConvArgs& args_;
  ConvPieceTensors last_, now_, next_;  // the last one's result is on its way
};

/// Returns nothing if there is no room for a row. backward_data also needs a filter that reads
/// every row of x.
std::optional<PieceSize> choose_size(Device device, const ConvProblem& problem) {
  const bool skips = problem.stride[0] > problem.dilation[0] * (problem.r - 1) + 1;
  if (skips && problem.direction == ConvDirection::backward_data) return {};
  const uint64_t tensors = 2 * kPiecesAtOnce;
  const uint64_t largest = std::min(pieces::largest_block(device), UINT64_MAX / tensors);
  return choose_pieces(problem, std::min(pieces::room_for_pieces(device), tensors * largest),
                       pieces::piece_costs(device));
}

}  // namespace

bool needs_pieces(const ConvArgs& args) {
  return pieces::needs_pieces(std::array<const Tensor*, 2>{args.x, args.y});
}

void run_in_pieces(Backend& backend, const ConvProblem& problem, const ConvArgs& args) {
  const Device device = backend.device();
  std::optional<PieceSize> size = choose_size(device, problem);
  for (Tensor* tensor : {args.x, args.y}) {
    if (size) break;
    tensor->buffer().leave_device();  // it was not the one without room
    size = choose_size(device, problem);
  }
  if (!size) {
    const MemoryAccount account = device.memory().account();
    throw OutOfMemory(
        device.name(),
        {kPiecesAtOnce * piece_bytes(problem, {}), account.in_use, account.cached, account.budget},
        "a convolution found no room for a piece of itself");
  }
  device.memory().trim();  // the workspace takes only memory that is not cached
  ConvPieceRunner(backend, args).run(divide(problem, *size));
}

}  // namespace kaiseki::conv
