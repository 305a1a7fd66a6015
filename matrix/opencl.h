// SPDX-License-Identifier: MIT
// OpenCL kernels of your own, in a few lines:
//
//   CustomKernel twice(R"(__kernel void twice(__global float* x, float a, int n) {
//     int i = get_global_id(0);
//     if (i < n) x[i] *= a;
//   })", "twice");
//   twice.run(Device::opencl(), {x, 2.0f, int32_t(x.size())}, {size_t(x.size())});
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "matrix/device.h"
#include "matrix/tensor.h"

namespace kaiseki {

class CustomKernel {
 public:
  /// A tensor is a parameter `__global T*` to its first element, row-major, read and written. The
  /// others are float, int, uint, long and ulong.
  using Argument = std::variant<Tensor, float, int32_t, uint32_t, int64_t, uint64_t>;

  /// OpenCL C 1.2, the name of its kernel, and options of the compiler ("-DTILE=16").
  CustomKernel(std::string source, std::string name, std::string options = "");

  /// Queues the kernel over `global` work-items (one to three dimensions), which the work-group
  /// `local` divides; without `local` the driver chooses. The program is compiled once for each
  /// device. A view that does not start its storage, or has strides, is copied before and after.
  /// Throws DeviceError (the compiler's messages in it), ShapeError for a tensor of another device.
  void run(Device device, const std::vector<Argument>& arguments, const std::vector<size_t>& global,
           const std::vector<size_t>& local = {}) const;

 private:
  std::string source_, name_, options_;
};

/// Kernels queued since the program started, and how many different ones.
struct OpenclKernelCount {
  uint64_t launches = 0, distinct = 0;
};
OpenclKernelCount opencl_kernel_count();

}  // namespace kaiseki
