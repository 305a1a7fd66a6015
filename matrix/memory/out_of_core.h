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

/// The size in bytes from which a tensor may leave: 1 MiB, or 1/64 of a budget below 64 MiB. Copies
/// of smaller tensors take too long for the room that they make. A budget of 0 means no limit.
uint64_t smallest_outside(uint64_t budget);
uint64_t smallest_outside(Device device);

}  // namespace kaiseki
