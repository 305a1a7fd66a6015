// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/backend.h"

#include <map>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "matrix/backend/entry.h"
#include "matrix/backend/opencl/kernels.h"
#include "matrix/backend/small_tasks.h"

namespace kaiseki {
namespace opencl {

DeviceInfo device_info(int index, const OpenclDeviceProperties& facts) {
  DeviceInfo info;
  info.device = Device::opencl(index);
  info.name = facts.name;
  info.platform = facts.platform;
  info.driver = facts.driver;
  info.is_gpu = facts.is_gpu;
  info.compute_units = facts.compute_units;
  info.memory = facts.memory;
  info.max_allocation = facts.max_allocation;
  return info;
}

OpenclBackend::OpenclBackend(OpenclDevice& device) : device_(device) {
  OpenclKernels kernels(device, kernels_);
  for (const auto add : kKernels) add(kernels);
}

int64_t OpenclBackend::small_task_limit() {
  std::call_once(limit_is_known_, [this] {
    try {
      small_task_limit_ = measure_small_task_limit(*this);
    } catch (const KernelError&) {  // the operation itself then falls back
    }
  });
  return small_task_limit_;
}

DeviceInfo OpenclBackend::info() const { return device_info(device_.index(), device_.facts()); }

}  // namespace opencl

namespace {

Backend& open(int index) {
  static std::mutex mutex;
  static auto* backends = new std::map<int, std::unique_ptr<opencl::OpenclBackend>>;
  std::lock_guard lock(mutex);
  auto& backend = (*backends)[index];
  if (!backend) backend = std::make_unique<opencl::OpenclBackend>(opencl::opencl_device(index));
  return *backend;
}

struct Found {
  std::vector<DeviceInfo> devices;
  std::string problem;
};

/// Finds the devices that open and run a test kernel, and the reason of the first failure.
Found find_devices() {
  Found found{{}, opencl::platforms().problem};
  const auto& all = opencl::platforms().devices;
  for (int i = 0; i < static_cast<int>(all.size()); ++i) try {
      found.devices.push_back(opencl::device_info(i, all[i]));
    } catch (const Error& error) {
      if (found.problem.empty()) found.problem = error.what();
    }
  return found;
}

}  // namespace

const BackendEntry& opencl_backend_entry() {
  static const BackendEntry entry{
      "opencl", open, [] { return find_devices().devices; },
      [] { return opencl::platforms().has_driver ? find_devices().problem : std::string(); }};
  return entry;
}

}  // namespace kaiseki
