// SPDX-License-Identifier: MIT
// Stands in for the OpenCL backend in a build without it.
#include "matrix/backend.h"
#include "matrix/error.h"

namespace kaiseki {

std::string opencl_device_problem() { return "this build of Kaiseki has no OpenCL backend"; }

Backend& opencl_backend(int) { throw DeviceError(message("device", opencl_device_problem())); }

std::vector<DeviceInfo> list_opencl_devices() { return {}; }

}  // namespace kaiseki
