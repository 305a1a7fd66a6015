// SPDX-License-Identifier: MIT
#include "matrix/backend/dispatch.h"

#include <atomic>
#include <string>

#include "base/log.h"

namespace kaiseki {
namespace {

std::atomic<uint64_t> fallbacks;

}  // namespace

uint64_t fallback_count() { return fallbacks; }

Backend& count_missing_operation(std::string_view operation, Device device) {
  ++fallbacks;
  log_warning_once(message(operation, device.name(),
                           " lacks this operation: it runs on the CPU, with transfers"));
  return cpu_backend();
}

void count_refused_kernel(std::string_view operation, Device device, const KernelError& refusal) {
  ++fallbacks;
  const std::string what =
      message(operation, device.name(), " refuses a kernel: it runs on the CPU, with transfers");
  log_warning_once(what, what + " (" + refusal.what() + ')');
}

}  // namespace kaiseki
