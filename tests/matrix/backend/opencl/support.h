// SPDX-License-Identifier: MIT
// For tests of the OpenCL backend: the first device, and its styles.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>

#include "base/environment.h"
#include "matrix/backend/opencl/backend.h"
#include "matrix/backend/registry.h"
#include "tests/support/cache_folder.h"
#include "tests/support/devices.h"

namespace kaiseki::test {

/// Returns nullptr on a machine without OpenCL. The test is then skipped or fails:
/// opencl_is_there().
inline opencl::OpenclBackend* opencl_or_null() {
  if (!opencl_is_there()) {
    std::printf("SKIPPED: no OpenCL device: %s\n", find_backend("opencl").problem().c_str());
    return nullptr;
  }
  return static_cast<opencl::OpenclBackend*>(&Device::opencl(0).backend());
}

/// While this object exists, the device runs the kernels of the given style.
class WithStyle {
 public:
  WithStyle(opencl::OpenclDevice& device, opencl::Style style)
      : device_(device), old_(device.style()) {
    device_.set_style(style);
  }
  ~WithStyle() { device_.set_style(old_); }

 private:
  opencl::OpenclDevice& device_;
  opencl::Style old_;
};

}  // namespace kaiseki::test
