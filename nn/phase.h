// SPDX-License-Identifier: MIT
// Phase: whether a network trains or is tested.
#pragma once

#include <cstdint>

namespace kaiseki::nn {

enum class Phase : uint8_t { train, test };

}  // namespace kaiseki::nn
