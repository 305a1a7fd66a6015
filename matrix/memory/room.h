// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "matrix/device.h"

namespace kaiseki {

/// The bytes that tensors can take on the device now, besides those in use. Nothing if there is no
/// limit. The limit is the budget, or without a budget 15/16 of a GPU's memory.
std::optional<uint64_t> room_for_tensors(Device device);

}  // namespace kaiseki
