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
  /// A tensor is a parameter `__global T*` that points to its first element, row-major, for reading
  /// and writing. The other types are float, int, uint, long and ulong.
  using Argument = std::variant<Tensor, float, int32_t, uint32_t, int64_t, uint64_t>;

  /// The source in OpenCL C 1.2, the name of its kernel, and compiler options ("-DTILE=16").
  CustomKernel(std::string source, std::string name, std::string options = "");

  /// Queues the kernel over `global` work-items (one to three dimensions). The work-group size
  /// `local` must divide them; if it is empty, the driver chooses. The program is compiled once per
  /// device. A view with an offset or strides is copied before and after. Throws DeviceError with
  /// the compiler's messages. Throws ShapeError for a tensor on another device.
  void run(Device device, const std::vector<Argument>& arguments, const std::vector<size_t>& global,
           const std::vector<size_t>& local = {}) const;

 private:
  std::string source_, name_, options_;
};

/// The number of kernels queued since the program started, and of different ones.
struct OpenclKernelCount {
  uint64_t launches = 0, distinct = 0;
};
OpenclKernelCount opencl_kernel_count();

}  // namespace kaiseki
