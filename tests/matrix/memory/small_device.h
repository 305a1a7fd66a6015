// SPDX-License-Identifier: MIT
// A device with little memory.
#pragma once

#include "matrix/memory/allocator.h"
#include "matrix/memory/workspace.h"
#include "matrix/tensor.h"

namespace kaiseki::test {

inline constexpr uint64_t kKiB = 1024, kMiB = 1024 * kKiB;

/// A device with a fresh workspace and a budget for more than the memory in use.
class SmallDevice {
 public:
  SmallDevice(Device device, uint64_t bytes) : device_(device) {
    workspace().set_limit({});
    allocator().trim();
    allocator().set_budget(allocator().account().in_use + bytes);
  }
  ~SmallDevice() {
    allocator().set_budget({});
    workspace().set_limit({});
  }
  Allocator& allocator() const { return device_.memory(); }
  Workspace& workspace() const { return device_.workspace(); }
  /// A tensor that is on the device.
  Tensor tensor(uint64_t bytes) const {
    Tensor made({static_cast<int64_t>(bytes)}, DType::u8, device_);
    made.buffer().on_device(Access::write);
    return made;
  }

 private:
  Device device_;
};

}  // namespace kaiseki::test
