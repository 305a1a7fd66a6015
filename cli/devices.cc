// SPDX-License-Identifier: MIT
// kaiseki devices
#include <algorithm>
#include <cstdio>

#include "base/environment.h"
#include "base/error.h"
#include "base/json_line.h"
#include "cli/commands.h"
#include "cli/gpu_hint.h"
#include "cli/text.h"
#include "matrix/device.h"
#include "matrix/threads.h"

namespace kaiseki::cli {
namespace {

/// The choice of Device::automatic(), but without its warning about a missing driver.
std::string default_device_name(const std::string& wanted, const std::vector<DeviceInfo>& devices) {
  if (!wanted.empty() && wanted != "auto") return Device::parse(wanted).name();
  const auto gpu = std::ranges::find_if(devices, &DeviceInfo::is_gpu);
  return (gpu == devices.end() ? devices.front() : *gpu).device.name();
}

/// A backend may not know a size. It is 0 then.
std::string size_or_unknown(uint64_t bytes) { return bytes ? format_bytes(bytes) : "unknown"; }

}  // namespace

int run_command(const DevicesCommand& c) {
  Table table({"device", "name", "platform", "units", "memory", "largest buffer"});
  const std::vector<DeviceInfo> devices = list_devices();
  for (const DeviceInfo& info : devices) {
    if (c.json) {
      JsonLine line;
      line.add("device", info.device.name()).add("name", info.name).add("platform", info.platform);
      line.add("driver", info.driver).add("gpu", info.is_gpu).add("units", info.compute_units);
      line.add("memory", info.memory).add("max_allocation", info.max_allocation);
      std::printf("%s\n", line.str().c_str());
    }
    table.row({info.device.name(), info.name, info.platform + " " + info.driver,
               std::to_string(info.compute_units), size_or_unknown(info.memory),
               size_or_unknown(info.max_allocation)});
  }
  if (c.json) return 0;
  std::printf("%s\n", table.str().c_str());
  for (const std::string& problem : device_problems())
    std::printf("not available: %s\n", problem.c_str());
  if (std::ranges::none_of(devices, &DeviceInfo::is_gpu))
    std::printf("no GPU can be used: %s\n", opencl_hint().c_str());
  const Environment settings = environment();
  std::printf("default: %s, %d CPU %s%s\n", default_device_name(settings.device, devices).c_str(),
              thread_count(), thread_count() == 1 ? "thread" : "threads",
              settings.device_memory
                  ? (", at most " + format_bytes(*settings.device_memory) + " a device").c_str()
                  : "");
  return 0;
}

}  // namespace kaiseki::cli
