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
#include "matrix/cost/rates.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/out_of_core.h"
#include "matrix/memory/room.h"

namespace kaiseki::conv {
namespace {

constexpr double kCopySeconds = 4e-6;  // of a copy, without its bytes

/// The rows of some images of a tensor [n, channels, rows, columns], and their place in a piece.
class RowsInPiece {
 public:
  RowsInPiece(Tensor& whole, Tensor& piece, int64_t first_image, const PieceRows& rows)
      : whole_(whole), piece_(piece), first_image_(first_image), rows_(rows) {}

  void to_piece(Backend& backend) const {
    if (!rows_.count) return;
    if (whole_.buffer().left_device()) return whole_.buffer().send_to(piece_.buffer(), region());
    const Tensor from = part_of_whole();
    Tensor to = piece_.slice(2, rows_.at, rows_.count);
    backend.run(kCopy, {&from, &to});
  }

  void from_piece(Backend& backend) const {
    if (whole_.buffer().left_device())
      return whole_.buffer().receive_from(piece_.buffer(), region());
    const Tensor from = piece_.slice(2, rows_.at, rows_.count);
    Tensor to = part_of_whole();
    backend.run(kCopy, {&from, &to});
  }

 private:
  Tensor part_of_whole() const {
    return whole_.slice(0, first_image_, piece_.dim(0)).slice(2, rows_.first, rows_.count);
  }

  static CopyRegion::RowPlace place(const Tensor& tensor, int64_t image, int64_t row) {
    const Shape& strides = tensor.strides();
    const auto bytes = [](int64_t elements) {
      return static_cast<uint64_t>(elements) * sizeof(float);
    };
    return {bytes(tensor.offset() + image * strides[0] + row * strides[2]), bytes(strides[1]),
            bytes(strides[0])};
  }

  /// Images follow each other, and so do the rows of a channel. They are one row of the copy.
  CopyRegion region() const {
    if (rows_.count == whole_.dim(2) && rows_.count == piece_.dim(2))
      return {.row = piece_.bytes(),
              .block = place(piece_, 0, 0),
              .host = place(whole_, first_image_, 0)};
    return {.row = static_cast<uint64_t>(rows_.count * whole_.dim(3)) * sizeof(float),
            .rows = static_cast<uint64_t>(whole_.dim(1)),
            .planes = static_cast<uint64_t>(piece_.dim(0)),
            .block = place(piece_, 0, rows_.at),
            .host = place(whole_, first_image_, rows_.first)};
  }

  Tensor& whole_;
  Tensor& piece_;
  int64_t first_image_;
  const PieceRows& rows_;
};

class PieceRunner {
 public:
  PieceRunner(Backend& backend, const ConvArgs& args) : backend_(backend), args_(args) {}

  void run(const ConvPiece& piece) {
    const ConvProblem& p = piece.problem;
    // The tensors of the last two pieces stay, so that this one's copies do not wait for them.
    Pair& now = pairs_[next_++ % pairs_.size()];
    now = {};
    now.x = Tensor({p.n, p.c, p.h, p.w}, DType::f32, backend_.device());
    now.y = Tensor({p.n, p.k, piece.y.count, p.out_w()}, DType::f32, backend_.device());
    const RowsInPiece x(*args_.x, now.x, piece.first_image, piece.x),
        y(*args_.y, now.y, piece.first_image, piece.y);
    ConvArgs args = args_;
    args.x = &now.x;
    args.y = &now.y;
    if (piece.has_padding) backend_.run(kFill, {&now.x, 0});
    const ConvDirection direction = p.direction;
    if (direction != ConvDirection::backward_data) x.to_piece(backend_);
    if (direction != ConvDirection::forward) y.to_piece(backend_);
    if (direction == ConvDirection::backward_filter && next_ > 1) args.beta = 1;
    if (piece.y.count)
      run_convolution(backend_, p, args);
    else
      backend_.run(kFill, {&now.x, 0});  // rows of x that no filter reads
    if (direction == ConvDirection::forward) y.from_piece(backend_);
    if (direction == ConvDirection::backward_data) x.from_piece(backend_);
  }

 private:
  struct Pair {
    Tensor x = {}, y = {};
  };
  Backend& backend_;
  const ConvArgs& args_;
  std::array<Pair, 3> pairs_;
  size_t next_ = 0;
};

/// Bytes. A backend that does not know its limit says 0.
uint64_t largest_block(const DeviceInfo& info) {
  return info.max_allocation ? info.max_allocation : UINT64_MAX;
}

bool comes_back(Tensor* tensor) {
  if (tensor->buffer().bytes() > largest_block(tensor->device().info())) return false;
  try {
    tensor->buffer().on_device(Access::read);
    return true;
  } catch (const OutOfMemory&) {
    return false;
  }
}

/// Returns nothing if there is no room for a row. backward_data also needs a filter that reads
/// every row of x.
std::optional<PieceSize> choose_size(Device device, const ConvProblem& problem) {
  const bool skips = problem.stride[0] > problem.dilation[0] * (problem.r - 1) + 1;
  if (skips && problem.direction == ConvDirection::backward_data) return {};
  const DeviceInfo info = device.info();
  const uint64_t tensors = 2 * kPiecesAtOnce;
  const uint64_t room = std::min(room_for_tensors(device).value_or(info.memory / 2),
                                 tensors * std::min(largest_block(info), UINT64_MAX / tensors));
  const DeviceRates rates = device_rates(device);
  const LinkRates link = rates.link.value_or(LinkRates{rates.bytes, rates.bytes});
  return choose_pieces(problem, room,
                       {.to_device = 1 / link.to_device,
                        .to_host = 1 / link.to_host,
                        .copy = kCopySeconds,
                        .multiply_add = 1 / rates.multiply_adds});
}

}  // namespace

bool needs_pieces(const ConvArgs& args) {
  std::vector<Tensor*> outside;
  for (Tensor* tensor : {args.x, args.y})
    if (tensor->buffer().left_device()) outside.push_back(tensor);
  if (outside.empty()) return false;
  if (out_of_core() == OutOfCore::always) return true;
  const uint64_t budget = args.x->device().memory().account().budget;
  if (budget && args.x->buffer().bytes() + args.y->buffer().bytes() > budget) return true;
  if (std::ranges::all_of(outside, comes_back)) return false;
  for (Tensor* tensor : outside) tensor->buffer().leave_device();
  return true;
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
  PieceRunner runner(backend, args);
  for (const ConvPiece& piece : divide(problem, *size)) runner.run(piece);
}

}  // namespace kaiseki::conv
