// SPDX-License-Identifier: MIT
// The OpenCL devices of this machine, GPUs first, and their properties.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "matrix/backend/opencl/api.h"

namespace kaiseki::opencl {

struct OpenclDeviceProperties {
  cl_platform_id platform_id = nullptr;
  cl_device_id id = nullptr;
  std::string name, vendor, platform, driver;
  bool is_gpu = false, is_cpu = false, unified_memory = false;
  int compute_units = 1;
  uint64_t memory = 0, max_allocation = 0, local_memory = 0;  // bytes
  uint64_t part_alignment = 1;                                // bytes, of a part of a block
  size_t max_work_group = 1;
  bool has_f64 = false;
  /// The platform caches compiled programs itself.
  bool caches_programs = false;
};

struct Platforms {
  std::vector<OpenclDeviceProperties> devices;
  std::string problem;  // the first failure, even if other devices work; empty if there is none
  bool has_driver = false;
};

/// Queried once per process.
const Platforms& platforms();

}  // namespace kaiseki::opencl
