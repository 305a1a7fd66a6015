// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/backend.h"

#include <map>
#include <memory>
#include <mutex>

#include "matrix/error.h"

namespace kaiseki {
namespace opencl {

DeviceInfo device_info(int index, const DeviceFacts& facts) {
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

DeviceInfo OpenclBackend::info() const { return device_info(device_.index(), device_.facts()); }

}  // namespace opencl

Backend& opencl_backend(int index) {
  static std::mutex mutex;
  static auto* backends = new std::map<int, std::unique_ptr<opencl::OpenclBackend>>;
  std::lock_guard lock(mutex);
  auto& backend = (*backends)[index];
  if (!backend) backend = std::make_unique<opencl::OpenclBackend>(opencl::opencl_device(index));
  return *backend;
}

std::vector<DeviceInfo> list_opencl_devices() {
  std::vector<DeviceInfo> devices;
  const auto& found = opencl::platforms().devices;
  for (int i = 0; i < static_cast<int>(found.size()); ++i) try {
      devices.push_back(opencl::device_info(i, found[i]));
    } catch (const Error&) {
    }
  return devices;
}

std::string opencl_device_problem() { return opencl::platforms().problem; }

}  // namespace kaiseki
