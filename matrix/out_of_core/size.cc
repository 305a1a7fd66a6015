// SPDX-License-Identifier: MIT
#include "matrix/out_of_core/size.h"

#include <optional>

#include "base/error.h"
#include "matrix/ceil_div.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/out_of_core.h"
#include "matrix/memory/room.h"

namespace kaiseki::pieces {
namespace {

constexpr double kPieceSeconds = 10e-6;  // to make the tensors and the plan of a piece
constexpr uint64_t kLargePart = 8;       // of the budget
constexpr int64_t kEverySize = 1 << 16, kFewer = 50;

bool comes_back(Buffer& buffer) {
  if (buffer.bytes() > largest_block(buffer.device())) return false;
  try {
    buffer.return_to_device();
    return true;
  } catch (const OutOfMemory&) {
    return false;
  }
}

}  // namespace

PieceCosts piece_costs(const DeviceRates& rates) {
  const LinkRates link = rates.link.value_or(LinkRates{rates.bytes, rates.bytes});
  return {.to_device = 1 / link.to_device,
          .to_host = 1 / link.to_host,
          .copy = link.copy,
          .start = kPieceSeconds + rates.start,
          .multiply_add = 1 / rates.multiply_adds,
          .byte = 1 / rates.bytes};
}

std::vector<int64_t> piece_sizes(int64_t all) {
  const bool every = all <= kEverySize;
  std::vector<int64_t> sizes;
  for (int64_t size = 1; size < all;) {
    const int64_t pieces = ceil_div(all, size);
    sizes.push_back(ceil_div(all, pieces));
    size = ceil_div(all, pieces - (every ? 1 : ceil_div(pieces, kFewer)));
  }
  sizes.push_back(all);
  return sizes;
}

/// A backend that does not know its limit says 0. The CPU is not asked, because it reads files.
uint64_t largest_block(Device device) {
  const uint64_t bytes = device.is_cpu() ? 0 : device.info().max_allocation;
  return bytes ? bytes : UINT64_MAX;
}

uint64_t room_for_pieces(Device device) {
  const std::optional<uint64_t> room = room_for_tensors(device);
  return room ? *room : device.info().memory / 2;
}

void make_room_for_pieces(Device device, uint64_t bytes) {
  const uint64_t budget = device.memory().account().budget;
  const uint64_t wanted = std::min({bytes, budget / 2, largest_block(device)});
  if (room_for_pieces(device) < wanted) try {
      Tensor({static_cast<int64_t>(wanted)}, DType::u8, device);  // the allocator makes room
    } catch (const OutOfMemory&) {
    }
}

bool is_large_and_outside(const Tensor& tensor) {
  const Allocator& memory = tensor.device().memory();
  const uint64_t bytes = tensor.buffer().bytes(), budget = memory.account().budget;
  return tensor.buffer().left_device() && budget && bytes >= budget / kLargePart &&
         !memory.has_room_for(bytes);
}

bool bring_back(std::span<const Tensor* const> tensors) {
  std::vector<Buffer*> all, outside;
  uint64_t bytes = 0;
  for (const Tensor* tensor : tensors) {
    if (!tensor || std::ranges::find(all, &tensor->buffer()) != all.end()) continue;
    all.push_back(&tensor->buffer());
    bytes += tensor->buffer().bytes();
    if (tensor->buffer().left_device()) outside.push_back(&tensor->buffer());
  }
  if (outside.empty()) return true;
  if (out_of_core() == OutOfCore::always) return false;
  const uint64_t budget = outside[0]->device().memory().account().budget;
  if (budget && bytes > budget) return false;
  if (std::ranges::all_of(outside, [](Buffer* buffer) { return comes_back(*buffer); })) return true;
  for (Buffer* buffer : outside) buffer->leave_device();
  return false;
}

}  // namespace kaiseki::pieces
