// SPDX-License-Identifier: MIT
#include "matrix/conv/out_of_core/run.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "matrix/backend/backend.h"
#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/copy.h"
#include "matrix/conv/candidates.h"
#include "matrix/conv/out_of_core/split.h"
#include "matrix/conv/out_of_core/sum.h"
#include "matrix/conv/select.h"
#include "matrix/memory/allocator.h"
#include "matrix/out_of_core/copies.h"
#include "matrix/out_of_core/size.h"

namespace kaiseki::conv {
namespace {

/// The rows and channels of a tensor [n, channels, rows, columns] that are in a piece.
struct TensorPart {
  PieceRows rows;
  int64_t first_channel, channels;
};
TensorPart x_part(const ConvPiece& piece) {
  return {piece.x, piece.first_x_channel, piece.problem.c};
}
TensorPart y_part(const ConvPiece& piece) {
  return {piece.y, piece.first_y_channel, piece.problem.k};
}

Tensor part_of(const Tensor& whole, const ConvPiece& piece, const TensorPart& part) {
  return whole.slice(0, piece.first_image, piece.problem.n)
      .slice(1, part.first_channel, part.channels)
      .slice(2, part.rows.first, part.rows.count);
}

void copy_to(Tensor& piece_tensor, const Tensor& whole, const ConvPiece& piece,
             const TensorPart& part) {
  if (!part.rows.count) return;
  Tensor to = piece_tensor.slice(2, part.rows.at, part.rows.count);
  pieces::copy_to_piece(part_of(whole, piece, part), to);
}

void copy_from(const Tensor& piece_tensor, const Tensor& whole, const ConvPiece& piece,
               const TensorPart& part) {
  Tensor to = part_of(whole, piece, part);
  pieces::copy_from_piece(to, piece_tensor.slice(2, part.rows.at, part.rows.count));
}

/// The filter's part that a piece needs. Channels of x are not contiguous in it.
Tensor filter_part(const Tensor& filter, const ConvPiece& piece) {
  const Tensor outputs = filter.slice(0, piece.first_y_channel, piece.problem.k);
  const int64_t inputs = piece.problem.c / piece.problem.groups;
  return inputs == filter.dim(1) ? outputs : outputs.slice(1, piece.first_x_channel, inputs);
}

class ConvPieceRunner {
 public:
  ConvPieceRunner(Backend& backend, const ConvArgs& args, bool copies_ahead)
      : backend_(backend), args_(args), copies_ahead_(copies_ahead) {}

  /// Runs all pieces. If there is room, copies a piece to the device while the one before is
  /// computed.
  void run(const std::vector<ConvPiece>& all) {
    for (size_t i = 0; i < all.size(); ++i) {
      if (!next_.x.defined()) start(all[i], i > 0 ? &all[i - 1] : nullptr);
      now_ = std::exchange(next_, {});
      if (!copies_ahead_)
        last_ = {};
      else if (i + 1 < all.size())
        start(all[i + 1], &all[i]);
      finish(all[i]);
      last_ = std::exchange(now_, {});
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

  /// A tensor for the piece that is computed.
  Tensor temporary(const Shape& shape) {
    try {
      return on_device(shape);
    } catch (const OutOfMemory&) {
      if (!last_.x.defined()) throw;
      last_ = {};
      return on_device(shape);
    }
  }

  void copy_on_device(const Tensor& from, Tensor& to) const {
    run_operation(kCopy, from, {&from, &to});
  }

  void make_tensors(const ConvPiece& piece, ConvPieceTensors& tensors) const {
    const ConvProblem& p = piece.problem;
    if (!tensors.x.defined()) tensors.x = on_device({p.n, p.c, p.h, p.w});
    if (!tensors.y.defined()) tensors.y = on_device({p.n, p.k, piece.y.count, p.out_w()});
  }

  /// Makes the next piece's tensors, and starts the copies to them. Shares tensors that the piece
  /// before has, too. Does nothing if the tensors find no room beside those of now_. Throws
  /// OutOfMemory if they find no room alone.
  void start(const ConvPiece& piece, const ConvPiece* before) {
    const ConvPieceTensors& shared = now_.x.defined() ? now_ : last_;
    const bool new_x = !(before && before->has_same_x(piece));
    const bool new_y = !(before && before->has_same_y(piece));
    ConvPieceTensors tensors;
    if (!new_x) tensors.x = shared.x;
    if (!new_y) tensors.y = shared.y;
    try {
      make_tensors(piece, tensors);
    } catch (const OutOfMemory&) {
      last_ = {};
      try {
        make_tensors(piece, tensors);
      } catch (const OutOfMemory&) {
        if (now_.x.defined()) return;
        throw;
      }
    }
    next_ = tensors;
    const ConvDirection direction = piece.problem.direction;
    if (new_x && piece.has_padding) backend_.run(kFill, {&next_.x, 0});
    if (new_x && direction != ConvDirection::backward_data)
      copy_to(next_.x, *args_.x, piece, x_part(piece));
    if (new_y && direction != ConvDirection::forward)
      copy_to(next_.y, *args_.y, piece, y_part(piece));
  }

  void finish(const ConvPiece& piece) {
    ConvArgs args = args_;
    args.x = &now_.x;
    args.y = &now_.y;
    Tensor filter = filter_part(*args_.filter, piece);
    args.filter = &filter;
    switch (piece.problem.direction) {
      case ConvDirection::forward:
        return forward(piece, args);
      case ConvDirection::backward_data:
        return backward_data(piece, args);
      case ConvDirection::backward_filter:
        return backward_filter(piece, args);
    }
  }

  void forward(const ConvPiece& piece, ConvArgs& args) {
    Tensor bias;
    if (args.bias) bias = args.bias->slice(0, piece.first_y_channel, piece.problem.k);
    args.bias = args.bias && piece.begins ? &bias : nullptr;
    if (!(piece.begins && piece.ends)) args.activation = Activation::none;
    run_on_filter_part(piece, args);
    if (!piece.ends) return;
    if (!piece.begins) activate(now_.y, args_.activation, args_.slope);
    copy_from(now_.y, *args_.y, piece, y_part(piece));
  }

  void backward_data(const ConvPiece& piece, ConvArgs& args) {
    if (piece.y.count)
      run_on_filter_part(piece, args);
    else
      backend_.run(kFill, {&now_.x, 0});  // rows of x that no filter reads
    if (piece.ends) copy_from(now_.x, *args_.x, piece, x_part(piece));
  }

  /// forward and backward_data. Adds the result to that of the pieces before.
  void run_on_filter_part(const ConvPiece& piece, ConvArgs& args) {
    Tensor filter = *args.filter;
    if (!filter.is_contiguous()) {
      filter = temporary(filter.shape());
      copy_on_device(*args.filter, filter);
    }
    args.filter = &filter;
    if (piece.begins) return run_convolution(backend_, piece.problem, args);
    Tensor*& result = piece.problem.direction == ConvDirection::forward ? args.y : args.x;
    Tensor& sum = *result;
    Tensor part = temporary(sum.shape());
    result = &part;
    run_convolution(backend_, piece.problem, args);
    add_part(sum, part);
  }

  void backward_filter(const ConvPiece& piece, ConvArgs& args) {
    if (!piece.begins) args.beta = 1;
    Tensor& result = *args.filter;
    if (result.is_contiguous()) return run_convolution(backend_, piece.problem, args);
    Tensor part = temporary(result.shape());
    if (args.beta != 0) copy_on_device(result, part);
    args.filter = &part;
    run_convolution(backend_, piece.problem, args);
    copy_on_device(part, result);
  }

  Backend& backend_;
  const ConvArgs& args_;
  const bool copies_ahead_;
  ConvPieceTensors last_, now_, next_;  // the result of last_ is being copied
};

struct ChosenPieces {
  PieceSize size;
  bool copies_ahead;  // there is room for more than one piece
};

/// Half of the room is for pieces that are copied and computed at a time, and half for the
/// workspace. If this is too little, the whole room is for the pieces. If this is too little, it is
/// for one piece, whose blocks may be rounded up by an eighth. Returns nothing if no piece fits.
std::optional<ChosenPieces> choose(Device device, const ConvProblem& problem) {
  const pieces::PieceCosts costs = convolution_costs(
      problem, device_rates(device), fastest_known_seconds(device.backend(), problem));
  const uint64_t room = pieces::room_for_pieces(device);
  const uint64_t largest = std::min(pieces::largest_block(device), UINT64_MAX / 2);
  const auto within = [&](uint64_t bytes, bool copies_ahead) -> std::optional<ChosenPieces> {
    const auto size = choose_pieces(problem, std::min(bytes, 2 * largest), costs);
    return size ? std::optional(ChosenPieces{*size, copies_ahead}) : std::nullopt;
  };
  constexpr uint64_t kAtOnce = pieces::kPiecesAtOnce;
  if (const auto chosen = within(room / (2 * kAtOnce), true)) return chosen;
  if (const auto chosen = within(room / kAtOnce, true)) return chosen;
  if (const auto chosen = within(room - room / 9, false)) return chosen;
  return within(room, false);
}

}  // namespace

/// Pieces read the whole filter on the device. If x and y take its room, they leave.
bool bring_back(const ConvArgs& args) {
  Buffer& filter = args.filter->buffer();
  if (filter.left_device()) try {
      filter.return_to_device();
    } catch (const OutOfMemory&) {
      args.x->buffer().leave_device();
      args.y->buffer().leave_device();
      filter.return_to_device();
      return false;
    }
  return pieces::bring_back(std::array<const Tensor*, 2>{args.x, args.y});
}

void run_in_pieces(Backend& backend, const ConvProblem& problem, const ConvArgs& args) {
  const Device device = backend.device();
  pieces::make_room_for_pieces(device, args.x->bytes() + args.y->bytes());
  std::optional<ChosenPieces> chosen = choose(device, problem);
  for (Tensor* tensor : {args.x, args.y}) {
    if (chosen) break;
    tensor->buffer().leave_device();  // it may still be on the device
    chosen = choose(device, problem);
  }
  if (!chosen) {
    const MemoryAccount account = device.memory().account();
    throw OutOfMemory(device.name(),
                      {piece_bytes(problem, smallest_piece(problem)), account.in_use,
                       account.cached, account.budget},
                      "the smallest piece of a convolution finds no room");
  }
  device.memory().trim();  // the workspace takes only memory that is not cached
  ConvPieceRunner(backend, args, chosen->copies_ahead).run(divide(problem, chosen->size));
}

}  // namespace kaiseki::conv
