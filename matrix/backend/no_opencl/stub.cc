// SPDX-License-Identifier: MIT
// Stands in for the OpenCL backend in a build without it.
#include "matrix/backend.h"
#include "matrix/error.h"
#include "matrix/opencl.h"

namespace kaiseki {

std::string opencl_device_problem() {
  return "[opencl] this build of Kaiseki has no OpenCL backend";
}

Backend& opencl_backend(int) { throw DeviceError(opencl_device_problem()); }

std::vector<DeviceInfo> list_opencl_devices() { return {}; }

OpenclKernelCount opencl_kernel_count() { return {}; }

CustomKernel::CustomKernel(std::string source, std::string name, std::string options)
    : source_(std::move(source)), name_(std::move(name)), options_(std::move(options)) {}

void CustomKernel::run(Device, const std::vector<Argument>&, const std::vector<size_t>&,
                       const std::vector<size_t>&) const {
  throw DeviceError(opencl_device_problem());
}

}  // namespace kaiseki
