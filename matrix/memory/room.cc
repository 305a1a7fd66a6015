// SPDX-License-Identifier: MIT
#include "matrix/memory/room.h"

#include <algorithm>

#include "matrix/memory/allocator.h"

namespace kaiseki {

std::optional<uint64_t> room_for_tensors(Device device) {
  const MemoryAccount account = device.memory().account();
  uint64_t limit = account.budget;
  if (limit == 0 && !device.is_cpu()) {
    const DeviceInfo info = device.info();
    if (info.is_gpu) limit = info.memory / 16 * 15;
  }
  if (limit == 0) return {};
  return limit - std::min(limit, account.in_use);
}

}  // namespace kaiseki
