// SPDX-License-Identifier: MIT
// How fast a device computes, as training over a pool plans with it.
#pragma once

#include <functional>

#include "matrix/device.h"

namespace kaiseki::dist {

/// GFLOP/s of a convolution 3x3, as pages measure theirs (web/pool/training.js), for so many
/// seconds or until stop().
double measure_gflops(Device device, double seconds, const std::function<bool()>& stop);

}  // namespace kaiseki::dist
