// SPDX-License-Identifier: MIT
// OpenclKernels: the files of kernels add their operations to it.
#pragma once

#include "matrix/backend/kernel_table.h"
#include "matrix/backend/opencl/device.h"

namespace kaiseki::opencl {

/// Binds kernels to a device.
class OpenclKernels {
 public:
  OpenclKernels(OpenclDevice& device, KernelTable& table) : device_(device), table_(table) {}

  template <class Args>
  void add(const Operation<Args>& operation, void (*kernel)(OpenclDevice&, const Args&)) {
    table_.add(operation, [&device = device_, kernel](const Args& args) { kernel(device, args); });
  }

 private:
  OpenclDevice& device_;
  KernelTable& table_;
};

}  // namespace kaiseki::opencl
