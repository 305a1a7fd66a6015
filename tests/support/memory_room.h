// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "matrix/device.h"
#include "matrix/memory/allocator.h"

namespace kaiseki::test {

/// While it lives, the device has room for these bytes beside the tensors that are on it.
class WithRoom {
 public:
  WithRoom(Device device, uint64_t bytes) : memory_(device.memory()) {
    memory_.trim();
    memory_.set_budget(memory_.account().in_use + bytes);
  }
  ~WithRoom() { memory_.set_budget({}); }
  WithRoom(const WithRoom&) = delete;

 private:
  Allocator& memory_;
};

}  // namespace kaiseki::test
