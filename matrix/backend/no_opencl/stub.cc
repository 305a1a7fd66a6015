// SPDX-License-Identifier: MIT
// Replaces the OpenCL backend in a build without OpenCL.
#include "base/error.h"
#include "matrix/backend/entry.h"
#include "matrix/opencl.h"

namespace kaiseki {
namespace {

Message problem() { return message("opencl", "this build of Kaiseki has no OpenCL backend"); }

Backend& open(int) { throw DeviceError(problem()); }

}  // namespace

const BackendEntry& opencl_backend_entry() {
  static const BackendEntry entry{"opencl", open, [] { return std::vector<DeviceInfo>(); },
                                  []() -> std::string { return problem(); }};
  return entry;
}

OpenclKernelCount opencl_kernel_count() { return {}; }

CustomKernel::CustomKernel(std::string source, std::string name, std::string options)
    : source_(std::move(source)), name_(std::move(name)), options_(std::move(options)) {}

void CustomKernel::run(Device, const std::vector<Argument>&, const std::vector<size_t>&,
                       const std::vector<size_t>&) const {
  throw DeviceError(problem());
}

}  // namespace kaiseki
