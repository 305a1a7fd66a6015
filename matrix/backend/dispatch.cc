// SPDX-License-Identifier: MIT
#include "matrix/backend/dispatch.h"

#include <atomic>
#include <mutex>
#include <string>

#include "base/log.h"

namespace kaiseki {
namespace {

std::atomic<uint64_t> fallbacks;
std::mutex last_mutex;
std::string& last() {
  static auto* one = new std::string;
  return *one;
}

void count(std::string_view operation, Device device) {
  ++fallbacks;
  std::lock_guard lock(last_mutex);
  last() = std::string(operation) + " on " + device.name();
}

}  // namespace

uint64_t fallback_count() { return fallbacks; }

std::string last_fallback() {
  std::lock_guard lock(last_mutex);
  return last();
}

Backend& count_missing_operation(std::string_view operation, Device device) {
  count(operation, device);
  log_warning_once(message(operation, device.name(),
                           " lacks this operation. It runs on the CPU, with transfers"));
  return cpu_backend();
}

void count_refused_kernel(std::string_view operation, Device device, const KernelError& refusal) {
  count(operation, device);
  const std::string what = message(
      operation, device.name(), " refuses a kernel. The operation runs on the CPU, with transfers");
  log_warning_once(what, what + " (" + refusal.what() + ')');
}

}  // namespace kaiseki
