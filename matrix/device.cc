// SPDX-License-Identifier: MIT
#include "matrix/device.h"

namespace kaiseki {
namespace {

Device current_default;

}  // namespace

Device default_device() { return current_default; }
void set_default_device(Device device) { current_default = device; }

}  // namespace kaiseki
