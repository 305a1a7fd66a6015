// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/platform.h"

#include <algorithm>

#include "base/error.h"
#include "matrix/backend/opencl/status.h"

namespace kaiseki::opencl {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

OpenclDeviceProperties facts_of(cl_platform_id platform, cl_device_id id) {
  OpenclDeviceProperties facts;
  facts.platform_id = platform;
  facts.id = id;
  facts.name = device_string(id, CL_DEVICE_NAME);
  facts.vendor = device_string(id, CL_DEVICE_VENDOR);
  facts.platform = platform_string(platform, CL_PLATFORM_NAME);
  facts.driver = device_string(id, CL_DRIVER_VERSION);
  auto type = device_number<cl_device_type>(id, CL_DEVICE_TYPE);
  facts.is_gpu = type & CL_DEVICE_TYPE_GPU;
  facts.is_cpu = type & CL_DEVICE_TYPE_CPU;
  facts.unified_memory = device_number<cl_bool>(id, CL_DEVICE_HOST_UNIFIED_MEMORY);
  facts.compute_units =
      static_cast<int>(std::max(1u, device_number<cl_uint>(id, CL_DEVICE_MAX_COMPUTE_UNITS)));
  facts.memory = device_number<cl_ulong>(id, CL_DEVICE_GLOBAL_MEM_SIZE);
  facts.max_allocation = device_number<cl_ulong>(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  facts.part_alignment =  // the device tells bits
      std::max(8u, device_number<cl_uint>(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN)) / 8;
  facts.local_memory = device_number<cl_ulong>(id, CL_DEVICE_LOCAL_MEM_SIZE);
  facts.max_work_group = device_number<size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  facts.has_f64 = contains(device_string(id, CL_DEVICE_EXTENSIONS), "cl_khr_fp64");
  facts.caches_programs =
      contains(facts.platform, "Portable Computing Language") || contains(facts.platform, "NVIDIA");
  return facts;
}

bool usable(cl_device_id id) {
  return device_number<cl_bool>(id, CL_DEVICE_AVAILABLE) &&
         device_number<cl_bool>(id, CL_DEVICE_COMPILER_AVAILABLE);
}

std::vector<cl_device_id> device_ids(cl_platform_id platform) {
  cl_uint count = 0;
  cl_int status = cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  if (status == CL_DEVICE_NOT_FOUND) return {};
  std::string name = "platform " + platform_string(platform, CL_PLATFORM_NAME);
  check(status, "clGetDeviceIDs", name);
  std::vector<cl_device_id> ids(count);
  check(cl().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr),
        "clGetDeviceIDs", name);
  return ids;
}

/// If a platform or device fails to answer, the others are still listed.
void add_devices(cl_platform_id platform, Platforms& found) {
  auto attempt = [&](auto body) {
    try {
      body();
    } catch (const Error& error) {
      if (found.problem.empty()) found.problem = error.what();
    }
  };
  attempt([&] {
    for (cl_device_id id : device_ids(platform))
      attempt([&] {
        if (usable(id)) found.devices.push_back(facts_of(platform, id));
      });
  });
}

int rank(const OpenclDeviceProperties& facts) {
  if (facts.is_gpu) return facts.unified_memory ? 1 : 0;
  return facts.is_cpu ? 3 : 2;
}

Platforms look() {
  Platforms found;
  try {
    cl_uint count = 0;
    cl_int status = cl().clGetPlatformIDs(0, nullptr, &count);
    if (status != CL_SUCCESS || count == 0) {
      found.problem = "[opencl] no platform: clGetPlatformIDs " +
                      (status == CL_SUCCESS ? "found none" : "returned " + status_name(status)) +
                      "; install a driver (an .icd file)";
      return found;
    }
    found.has_driver = true;
    std::vector<cl_platform_id> ids(count);
    check(cl().clGetPlatformIDs(count, ids.data(), nullptr), "clGetPlatformIDs", "this machine");
    for (cl_platform_id id : ids) add_devices(id, found);
    std::stable_sort(found.devices.begin(), found.devices.end(),
                     [](auto& a, auto& b) { return rank(a) < rank(b); });
    if (found.devices.empty() && found.problem.empty())
      found.problem = message("opencl", "no usable device on ", count, " platform(s)");
  } catch (const Error& error) {
    found.problem = error.what();
  }
  return found;
}

}  // namespace

const Platforms& platforms() {
  static const Platforms* found = new Platforms(look());
  return *found;
}

}  // namespace kaiseki::opencl
