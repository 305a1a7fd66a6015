// SPDX-License-Identifier: MIT
// The CPU as a device: its memory, its description, and operations that are implemented elsewhere.
#include "matrix/backend/cpu/cpu_backend.h"

#include <algorithm>
#include <fstream>

#include "base/environment.h"
#include "base/error.h"
#include "hwy/highway.h"
#include "matrix/backend/backends.h"
#include "matrix/backend/cpu/conv/solvers.h"
#include "matrix/backend/cpu/cpu_memory.h"
#include "matrix/backend/cpu/kernels.h"
#include "matrix/backend/registry.h"
#include "matrix/memory/host_room.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

void cap_instruction_set(const std::string& target) {
  if (target.empty()) return;
#if HWY_ARCH_X86
  struct Cap {
    const char* name;
    int64_t bit;
  };
  for (Cap cap : {Cap{"sse4", HWY_SSE4}, Cap{"avx2", HWY_AVX2}, Cap{"avx3", HWY_AVX3}})
    if (target == cap.name) return hwy::DisableTargets(cap.bit - 1);
#endif
  throw Error(message("environment", "expected KAISEKI_CPU_TARGET as sse4, avx2 or avx3, got '",
                      target, "'"));
}

#ifdef __linux__
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      size_t start = line.find_first_not_of(" \t", line.find(':') + 1);
      if (start != std::string::npos) return line.substr(start);
    }
  return "CPU";
}
#else
std::string processor_name() { return "CPU"; }
#endif

}  // namespace

CpuBackend::CpuBackend() {
  const std::string& target = environment().cpu_target;
  cap_instruction_set(target);
  const int64_t targets = HWY_SUPPORTED_TARGETS & HWY_TARGETS;
  instruction_set_ = hwy::TargetName(targets & -targets);
  // Highway 1.0.3 loses the limit when the supported targets are queried, so it is set again.
  cap_instruction_set(target);
  for (const auto add : cpu::kKernels) add(kernels_);
}

DeviceInfo CpuBackend::info() const {
  DeviceInfo info;
  info.device = device();
  info.name = processor_name();
  info.platform = std::string("Highway ") + instruction_set_;
  info.compute_units = thread_count();
  info.memory = host_room().total;
  info.max_allocation = info.memory;
  return info;
}

void CpuBackend::synchronize() { finish_cpu_copies(); }

RawMemory& CpuBackend::raw_memory() { return cpu_memory(); }

std::span<const ConvSolver* const> CpuBackend::conv_solvers() const { return cpu_conv_solvers(); }

Backend& cpu_backend() {
  static CpuBackend* backend = new CpuBackend;  // outlives every static tensor
  return *backend;
}

const BackendEntry& cpu_backend_entry() {
  static const BackendEntry entry{"cpu", [](int) -> Backend& { return cpu_backend(); },
                                  [] { return std::vector{cpu_backend().info()}; },
                                  [] { return std::string(); }};
  return entry;
}

}  // namespace kaiseki
