// SPDX-License-Identifier: MIT
// Measures how fast a device computes. Training over a pool plans with it.
#pragma once

#include <functional>

#include "matrix/device.h"

namespace kaiseki::dist {

/// GFLOP/s of a 3x3 convolution, measured for `seconds` or until stop() returns true. Pages measure
/// the same (web/pool/training.js).
double measure_gflops(Device device, double seconds, const std::function<bool()>& stop);

}  // namespace kaiseki::dist
