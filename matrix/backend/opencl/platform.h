// SPDX-License-Identifier: MIT
// The OpenCL devices of this machine, GPUs first, and what each can do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "matrix/backend/opencl/api.h"

namespace kaiseki::opencl {

struct DeviceFacts {
  cl_platform_id platform_id = nullptr;
  cl_device_id id = nullptr;
  std::string name, vendor, platform, driver;
  bool is_gpu = false, is_cpu = false, unified_memory = false;
  int compute_units = 1;
  uint64_t memory = 0, max_allocation = 0, local_memory = 0;  // bytes
  size_t max_work_group = 1;
  /// Whether the platform keeps compiled programs itself, so that we need not.
  bool caches_programs = false;
};

struct Platforms {
  std::vector<DeviceFacts> devices;
  std::string problem;  // the first of what failed, with other devices or without; empty: nothing
};

/// Looked up once in a process.
const Platforms& platforms();

}  // namespace kaiseki::opencl
