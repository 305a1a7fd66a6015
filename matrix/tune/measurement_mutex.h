// SPDX-License-Identifier: MIT
// The lock of measurements.
#pragma once

#include <mutex>

namespace kaiseki {

/// Held during a measurement, because two measurements at the same time would disturb each other.
std::recursive_mutex& measurement_mutex();

}  // namespace kaiseki
