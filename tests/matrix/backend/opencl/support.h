// SPDX-License-Identifier: MIT
// For tests of the OpenCL backend: the first device, and a cache folder of one's own.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "matrix/backend/opencl/backend.h"
#include "matrix/environment.h"
#include "tests/support/devices.h"

namespace kaiseki::test {

/// nullptr on a machine without OpenCL, where the test counts as skipped or fails:
/// opencl_is_there().
inline opencl::OpenclBackend* opencl_or_null() {
  if (!opencl_is_there()) {
    std::printf("SKIPPED: no OpenCL device: %s\n", opencl_device_problem().c_str());
    return nullptr;
  }
  return static_cast<opencl::OpenclBackend*>(&Device::opencl(0).backend());
}

/// A cache folder that is empty at first and gone at the end.
class CacheFolder {
 public:
  explicit CacheFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("kaiseki_test_" + name)) {
    if (const char* old = std::getenv("KAISEKI_CACHE_DIR")) old_ = old;
    std::filesystem::remove_all(path_);
    setenv("KAISEKI_CACHE_DIR", path_.c_str(), 1);
  }
  ~CacheFolder() {
    std::filesystem::remove_all(path_);
    if (old_.empty())
      unsetenv("KAISEKI_CACHE_DIR");
    else
      setenv("KAISEKI_CACHE_DIR", old_.c_str(), 1);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::string old_;
};

/// Runs a device's kernels of the other style while it lives.
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
