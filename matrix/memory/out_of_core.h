// SPDX-License-Identifier: MIT
// Whether tensors leave a device that has no room for them.
#pragma once

#include <cstdint>

#include "matrix/device.h"

namespace kaiseki {

enum class OutOfCore : uint8_t {
  automatic,  // if there is no room
  off,        // never: OutOfMemory in place of a slower training
  always      // even if there is room; for tests of copies
};

void set_out_of_core(OutOfCore policy);
OutOfCore out_of_core();

/// Returns whether tensors of the device can wait elsewhere.
bool tensors_can_leave(Device device);

/// Smaller tensors stay on the device: the copies would take longer than the room is worth. 1 MiB,
/// or 1/64 of a smaller budget. In bytes. A budget of 0 means no limit.
uint64_t smallest_outside(uint64_t budget);
uint64_t smallest_outside(Device device);

}  // namespace kaiseki
