// SPDX-License-Identifier: MIT
// The sizes of pieces: the room that they have, and the time that they take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "matrix/cost/rates.h"
#include "matrix/tensor.h"

namespace kaiseki::pieces {

/// The number of pieces whose copies and computing overlap.
inline constexpr uint64_t kPiecesAtOnce = 3;

/// Seconds for a byte over the link, a row of a copy, the start of a piece, and a multiply-add.
/// `byte` is the seconds for a byte that a kernel reads or writes.
struct PieceCosts {
  double to_device = 0, to_host = 0, copy = 0, start = 0, multiply_add = 0, byte = 0;
};
PieceCosts piece_costs(const DeviceRates& rates);

/// The seconds of one piece.
struct PieceSeconds {
  double in = 0, compute = 0, out = 0;

  /// The time of all pieces, whose copies and computing overlap. The longest of the three counts
  /// for every piece. The two others count for one piece.
  double of_all(int64_t pieces) const {
    return in + compute + out + static_cast<double>(pieces - 1) * std::max({in, compute, out});
  }
};

/// The smallest size for each number of pieces, in ascending order. If there are very many numbers,
/// only numbers that differ by about 2 %.
std::vector<int64_t> piece_sizes(int64_t all);

/// The largest block of the device in bytes.
uint64_t largest_block(Device device);

/// The bytes that pieces can take on the device.
uint64_t room_for_pieces(Device device);

/// Makes tensors that an operation does not use leave the device, if the operation's tensors have
/// too little room. `bytes` are those of the operation's tensors.
void make_room_for_pieces(Device device, uint64_t bytes);

/// Returns whether the tensor is outside, takes an eighth of the budget or more, and has no free
/// room.
bool is_large_and_outside(const Tensor& tensor);

/// Copies the tensors that are outside back to the device. If they do not all find room, they stay
/// outside, and false is returned. The operation must then run in pieces. The elements may be null.
bool bring_back(std::span<const Tensor* const> tensors);

}  // namespace kaiseki::pieces
