// SPDX-License-Identifier: MIT
#include "matrix/device.h"

#include <charconv>
#include <map>
#include <memory>
#include <mutex>

#include "matrix/backend.h"
#include "matrix/environment.h"
#include "matrix/error.h"
#include "matrix/log.h"
#include "matrix/memory/pool.h"
#include "matrix/memory/workspace.h"

namespace kaiseki {
namespace {

Device current_default;

struct DeviceMemory {
  explicit DeviceMemory(Device device)
      : pool(device.name(), device.backend().raw_memory(), environment().device_memory),
        workspace(device, pool) {}
  MemoryPool pool;
  Workspace workspace;
};

DeviceMemory& memory_of(Device device) {
  static std::mutex mutex;
  static auto* all = new std::map<Device, std::unique_ptr<DeviceMemory>>;
  static DeviceMemory* of_cpu = nullptr;
  std::lock_guard lock(mutex);
  if (device.is_cpu() && of_cpu) return *of_cpu;
  auto& memory = (*all)[device];
  if (!memory) memory = std::make_unique<DeviceMemory>(device);
  if (device.is_cpu()) of_cpu = memory.get();
  return *memory;
}

}  // namespace

Device Device::opencl(int index) {
  opencl_backend(index);
  return Device(Kind::opencl, index);
}

Device Device::automatic() {
  for (const DeviceInfo& info : list_opencl_devices())
    if (info.is_gpu) return info.device;
  if (std::string problem = opencl_device_problem(); !problem.empty())
    log_warning_once(problem + "; computing on the CPU");
  return cpu();
}

Device Device::parse(std::string_view text) {
  std::string fallback;
  if (text.empty()) {
    fallback = environment().device;
    text = fallback;
  }
  if (text.empty() || text == "auto") return automatic();
  if (text == "cpu") return cpu();
  if (text == "opencl") return opencl(0);
  if (text.starts_with("opencl:")) {
    int index = -1;
    auto [end, error] = std::from_chars(text.data() + 7, text.data() + text.size(), index);
    if (error == std::errc() && end == text.data() + text.size() && index >= 0)
      return opencl(index);
  }
  throw DeviceError(message("device", "expected cpu, opencl, opencl:N or auto, got '", text, "'"));
}

std::string Device::name() const { return is_cpu() ? "cpu" : "opencl:" + std::to_string(index_); }

Backend& Device::backend() const { return is_cpu() ? cpu_backend() : opencl_backend(index_); }

MemoryPool& Device::memory() const { return memory_of(*this).pool; }

Workspace& Device::workspace() const { return memory_of(*this).workspace; }

void Device::synchronize() const { backend().synchronize(); }

Device default_device() { return current_default; }
void set_default_device(Device device) { current_default = device; }

std::vector<DeviceInfo> list_devices() {
  std::vector<DeviceInfo> devices{cpu_backend().info()};
  for (auto& info : list_opencl_devices()) devices.push_back(std::move(info));
  return devices;
}

std::string opencl_problem() { return opencl_device_problem(); }

}  // namespace kaiseki
