// SPDX-License-Identifier: MIT
#include "matrix/out_of_core/run.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "matrix/ceil_div.h"
#include "matrix/memory/allocator.h"
#include "matrix/out_of_core/copies.h"
#include "matrix/out_of_core/size.h"

namespace kaiseki::pieces {
namespace {

constexpr uint64_t kStreamedPart = 16;  // pieces get this fraction of the tensors' bytes

bool same_view(const Tensor& a, const Tensor& b) {
  return a.shares_storage_with(b) && a.offset() == b.offset() && a.shape() == b.shape() &&
         a.strides() == b.strides() && a.dtype() == b.dtype();
}

/// An operand along a cut.
struct CutTensor {
  Tensor whole;
  int axis = kWhole;
  size_t same_as = 0;  // the first operand of the same view; it has the flags of all of them
  bool reads = false, writes = false, any_strides = false;
  bool copied = false;   // a piece is a tensor of its own
  bool outside = false;  // its parts are copied over the link

  Tensor part(int64_t first, int64_t length) const { return whole.slice(axis, first, length); }

  /// Returns whether the kernel cannot use parts of the tensor itself.
  bool needs_copies() const {
    const auto is_contiguous = [&](int64_t length) { return part(0, length).is_contiguous(); };
    return outside || (!any_strides &&
                       !(is_contiguous(1) && is_contiguous(std::min<int64_t>(2, whole.dim(axis)))));
  }
  /// Returns whether the whole tensor has to come back.
  bool comes_back() const { return !outside && whole.buffer().left_device(); }
};

std::vector<CutTensor> tensors_along(const Division& division, size_t cut) {
  std::vector<CutTensor> all;
  for (const PieceOperand& operand : division.operands) {
    const int axis = operand.axes[cut];
    const auto same = std::ranges::find_if(all, [&](const CutTensor& other) {
      return other.axis == axis && same_view(other.whole, operand.whole);
    });
    all.push_back({.whole = operand.whole,
                   .axis = axis,
                   .same_as = static_cast<size_t>(same - all.begin()),
                   .any_strides = true});
    CutTensor& first = all[all.back().same_as];
    first.reads |= operand.access != Access::write;
    first.writes |= operand.access != Access::read;
    first.any_strides &= operand.any_strides;
  }
  for (CutTensor& one : all) {
    if (one.axis == kWhole) continue;
    one.outside = one.whole.buffer().left_device() && can_copy_parts(one.whole);
    one.copied = one.needs_copies();
  }
  return all;
}

class PieceRunner {
 public:
  PieceRunner(std::string_view operation, Device device, const Division& division,
              const RunPiece& run)
      : operation_(operation),
        device_(device),
        division_(division),
        run_(run),
        costs_(piece_costs(device_rates(device))),
        largest_(largest_block(device)) {}

  void run_all() {
    choose();
    while (!come_back()) {
      most_ = bytes_kept(tensors_) - 1;
      choose();
    }
    const int64_t length = division_.cuts[cut_].length;
    std::optional<PieceTensors> next;
    for (int64_t first = 0; first < length || next;) {
      std::optional<PieceTensors> now = std::exchange(next, {});
      if (first < length && (at_once_ > 1 || !now)) try {
          if (at_once_ < kPiecesAtOnce) last_ = {};
          next = start(first, std::min(size_, length - first));
          first += next->range.length;
        } catch (const OutOfMemory&) {
          if (!now && !make_room()) throw;
        }
      if (now) finish(std::move(*now));
    }
  }

 private:
  struct PieceTensors {
    PieceRange range;
    std::vector<Tensor> tensors;  // in the order of the operands
  };

  /// Copies back the tensors that are not cut. Returns false if one has no room, because the free
  /// memory is not in one block.
  bool come_back() const {
    for (const CutTensor& one : tensors_)
      if (one.comes_back()) try {
          one.whole.buffer().return_to_device();
        } catch (const OutOfMemory&) {
          return false;
        }
    return true;
  }

  /// Takes the fastest size of all cuts. If no size has room, the tensors on the device leave it.
  void choose() {
    uint64_t bytes = 0;
    for (const PieceOperand& operand : division_.operands) bytes += operand.whole.bytes();
    if (division_.streams) {
      make_room_for_pieces(device_, bytes / kStreamedPart);
      if (choose_size()) return;
    }
    make_room_for_pieces(device_, bytes);
    if (choose_size()) return;
    for (const PieceOperand& operand : division_.operands)
      if (std::ranges::any_of(operand.axes, [](int axis) { return axis != kWhole; })) {
        operand.whole.buffer().leave_device();
        if (choose_size()) return;
      }
    const MemoryAccount account = device_.memory().account();
    throw OutOfMemory(device_.name(),
                      {std::min(smallest_, bytes), account.in_use, account.cached, account.budget},
                      text_from("no room for a piece of the operation ", operation_));
  }

  bool choose_size() {
    smallest_ = UINT64_MAX;
    for (const bool adds : {false, true})
      for (uint64_t at_once = kPiecesAtOnce; at_once > 0; --at_once)
        if (choose_size(adds, at_once)) return true;
    return false;
  }

  bool choose_size(bool adds, uint64_t at_once) {
    std::optional<double> shortest;
    for (size_t cut = 0; cut < division_.cuts.size(); ++cut) {
      if (division_.cuts[cut].adds != adds) continue;
      const std::vector<CutTensor> tensors = tensors_along(division_, cut);
      const uint64_t kept = bytes_kept(tensors);
      const uint64_t room = std::min(room_for_pieces(device_), most_);
      for (const int64_t size : piece_sizes(division_.cuts[cut].length)) {
        const std::optional<uint64_t> bytes = bytes_of_piece(tensors, size);
        if (!bytes) break;
        const uint64_t scratch = scratch_bytes(cut, size);
        const uint64_t all = kept + at_once * *bytes + scratch;
        smallest_ = std::min(smallest_, all);
        if (all > room || scratch > largest_) break;
        const double seconds =
            seconds_of(tensors, cut, size).of_all(ceil_div(division_.cuts[cut].length, size));
        if (shortest && seconds >= *shortest) continue;
        shortest = seconds;
        cut_ = cut;
        size_ = size;
        at_once_ = at_once;
        tensors_ = tensors;
      }
    }
    return shortest.has_value();
  }

  /// The bytes of tensors that must come back as a whole.
  uint64_t bytes_kept(const std::vector<CutTensor>& tensors) const {
    uint64_t bytes = 0;
    for (const CutTensor& one : tensors)
      if (one.comes_back()) bytes += device_.memory().rounded(one.whole.buffer().bytes());
    return bytes;
  }

  uint64_t scratch_bytes(size_t cut, int64_t size) const {
    const auto length = static_cast<uint64_t>(division_.cuts[cut].length);
    return (division_.scratch_bytes / length + 1) * static_cast<uint64_t>(size);
  }

  /// Returns nothing if a tensor is larger than the device's largest block.
  std::optional<uint64_t> bytes_of_piece(const std::vector<CutTensor>& tensors,
                                         int64_t size) const {
    uint64_t all = 0;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const CutTensor& one = tensors[i];
      if (!one.copied || one.same_as != i) continue;
      const uint64_t bytes = one.part(0, size).bytes();
      if (bytes > largest_) return {};
      all += device_.memory().rounded(bytes);
    }
    return all;
  }

  PieceSeconds seconds_of(const std::vector<CutTensor>& tensors, size_t cut, int64_t size) const {
    const double share =
        static_cast<double>(size) / static_cast<double>(division_.cuts[cut].length);
    PieceSeconds seconds{.compute =
                             costs_.start + share * division_.multiply_adds * costs_.multiply_add};
    for (size_t i = 0; i < tensors.size(); ++i) {
      const CutTensor& one = tensors[i];
      if (one.axis == kWhole) continue;
      const Tensor part = one.part(0, size);
      const auto bytes = static_cast<double>(part.bytes());
      seconds.compute += bytes * costs_.byte;
      if (!one.outside || one.same_as != i) continue;
      const double copies = static_cast<double>(rows_of_copy(part)) * costs_.copy;
      if (one.reads) seconds.in += bytes * costs_.to_device + copies;
      if (one.writes) seconds.out += bytes * costs_.to_host + copies;
    }
    return seconds;
  }

  /// Makes the tensors of a piece, and starts the copies to it.
  PieceTensors start(int64_t first, int64_t length) {
    PieceTensors piece{.range = {cut_, first, length}, .tensors = {}};
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const CutTensor& one = tensors_[i];
      if (one.axis == kWhole)
        piece.tensors.push_back(one.whole);
      else if (one.same_as != i)
        piece.tensors.push_back(piece.tensors[one.same_as]);
      else if (!one.copied)
        piece.tensors.push_back(one.part(first, length));
      else
        piece.tensors.push_back(on_device(one.part(first, length)));
    }
    for (size_t i = 0; i < tensors_.size(); ++i)
      if (const CutTensor& one = tensors_[i]; one.copied && one.same_as == i && one.reads)
        copy_to_piece(one.part(first, length), piece.tensors[i]);
    return piece;
  }

  Tensor on_device(const Tensor& part) const {
    Tensor piece(part.shape(), part.dtype(), device_);
    piece.buffer().return_to_device();  // throws if there was no room
    return piece;
  }

  /// Computes the piece, and starts the copies of its results.
  void finish(PieceTensors piece) {
    run_(piece.tensors, piece.range);
    for (size_t i = 0; i < tensors_.size(); ++i)
      if (const CutTensor& one = tensors_[i]; one.copied && one.same_as == i && one.writes) {
        Tensor part = one.part(piece.range.first, piece.range.length);
        copy_from_piece(part, piece.tensors[i]);
      }
    // Keeps the tensors, because their copies still run. New tensors would wait for these copies.
    last_ = std::move(piece);
  }

  /// Releases the last piece, or makes the next ones smaller. Returns false if neither is possible.
  bool make_room() {
    if (!last_.tensors.empty()) {
      last_ = {};
      return true;
    }
    if (size_ == 1) return false;
    size_ = ceil_div(size_, 2);
    return true;
  }

  std::string_view operation_;
  const Device device_;
  const Division& division_;
  const RunPiece& run_;
  const PieceCosts costs_;
  const uint64_t largest_;      // bytes of a block
  uint64_t most_ = UINT64_MAX;  // bytes; more were refused
  size_t cut_ = 0;
  int64_t size_ = 0;
  uint64_t at_once_ = 0;  // the number of pieces that have room together
  uint64_t smallest_ = 0;
  std::vector<CutTensor> tensors_;
  PieceTensors last_;
};

}  // namespace

std::vector<BufferHold> hold_operands(const Division& division) {
  std::vector<BufferHold> holds;
  for (const PieceOperand& operand : division.operands) holds.emplace_back(operand.whole.buffer());
  return holds;
}

void run_in_pieces(std::string_view operation, Device device, const Division& division,
                   const RunPiece& run) {
  PieceRunner(operation, device, division, run).run_all();
}

}  // namespace kaiseki::pieces
