// SPDX-License-Identifier: MIT
// kaiseki devices
#include <cstdio>

#include "cli/commands.h"
#include "cli/text.h"
#include "matrix/device.h"
#include "matrix/environment.h"
#include "matrix/error.h"
#include "matrix/threads.h"
#include "nn/train/json_line.h"

namespace kaiseki::cli {

int run_command(const DevicesCommand& c) {
  Table table({"device", "name", "platform", "units", "memory", "largest buffer"});
  for (const DeviceInfo& info : list_devices()) {
    if (c.json) {
      nn::JsonLine line;
      line.add("device", info.device.name()).add("name", info.name).add("platform", info.platform);
      line.add("driver", info.driver).add("gpu", info.is_gpu).add("units", info.compute_units);
      line.add("memory", info.memory).add("max_allocation", info.max_allocation);
      std::printf("%s\n", line.str().c_str());
    }
    table.row({info.device.name(), info.name, info.platform + " " + info.driver,
               std::to_string(info.compute_units), format_bytes(info.memory),
               format_bytes(info.max_allocation)});
  }
  if (c.json) return 0;
  std::printf("%s\n", table.str().c_str());
  if (const std::string problem = opencl_problem(); !problem.empty())
    std::printf("not available: %s\n", problem.c_str());
  const Environment settings = environment();
  std::printf("default: %s, %d CPU %s%s\n", Device::parse("").name().c_str(), thread_count(),
              thread_count() == 1 ? "thread" : "threads",
              settings.device_memory
                  ? (", at most " + format_bytes(*settings.device_memory) + " a device").c_str()
                  : "");
  return 0;
}

}  // namespace kaiseki::cli
