// SPDX-License-Identifier: MIT
// The CPU as a device: its memory, its description, and operations that live elsewhere.
#include "matrix/backend/cpu/cpu_backend.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include "hwy/highway.h"
#include "matrix/backend/cpu/gemm.h"
#include "matrix/backend/cpu/pool.h"
#include "matrix/conv/cpu_solvers.h"
#include "matrix/environment.h"
#include "matrix/error.h"
#include "matrix/memory/host.h"
#include "matrix/memory/host_room.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

class CpuMemory : public RawMemory {
 public:
  uint64_t available() const override { return spare_host_memory(); }
  void* allocate(uint64_t bytes) override { return allocate_host(bytes); }
  void release(void* block) noexcept override { release_host(block); }
  bool commit(void* block, uint64_t bytes) noexcept override {
    touch_host(block, bytes);
    return true;
  }
  bool divisible() const override { return can_discard_host(); }
  void discard(void* part, uint64_t bytes) noexcept override { discard_host(part, bytes); }
};

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

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      size_t start = line.find_first_not_of(" \t", line.find(':') + 1);
      if (start != std::string::npos) return line.substr(start);
    }
  return "CPU";
}

}  // namespace

CpuBackend::CpuBackend() {
  const std::string& target = environment().cpu_target;
  cap_instruction_set(target);
  const int64_t targets = HWY_SUPPORTED_TARGETS & HWY_TARGETS;
  instruction_set_ = hwy::TargetName(targets & -targets);
  cap_instruction_set(target);  // Highway 1.0.3 forgets the cap whenever it is asked what there is
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

RawMemory& CpuBackend::raw_memory() {
  static CpuMemory memory;
  return memory;
}

void CpuBackend::upload(void* block, const void* host, uint64_t bytes) {
  std::memcpy(block, host, bytes);
}

void CpuBackend::download(void* host, void* block, uint64_t bytes) {
  std::memcpy(host, block, bytes);
}

void CpuBackend::gemm(const GemmArgs& args) {
  cpu::Gemm g;
  g.trans_a = args.trans_a;
  g.trans_b = args.trans_b;
  g.m = args.m;
  g.n = args.n;
  g.k = args.k;
  g.batch = args.batch;
  g.alpha = args.alpha;
  g.beta = args.beta;
  g.a = static_cast<const float*>(args.a->host_pointer(Access::read));
  g.lda = args.lda;
  g.stride_a = args.stride_a;
  g.b = static_cast<const float*>(args.b->host_pointer(Access::read));
  g.ldb = args.ldb;
  g.stride_b = args.stride_b;
  const float* bias = args.bias ? args.bias->data<float>() : nullptr;
  if (args.bias_kind == GemmArgs::Bias::per_row) g.bias_row = bias;
  if (args.bias_kind == GemmArgs::Bias::per_column) g.bias_col = bias;
  g.activation = args.activation;
  g.slope = args.slope;
  g.c = static_cast<float*>(args.c->host_pointer(Access::read_write));
  g.ldc = args.ldc;
  g.stride_c = args.stride_c;
  cpu::gemm(g);
}

std::span<const ConvSolver* const> CpuBackend::conv_solvers() const { return cpu_conv_solvers(); }

void CpuBackend::pool_forward(const PoolArgs& args) { cpu::pool_forward(args); }
void CpuBackend::pool_backward(const PoolArgs& args) { cpu::pool_backward(args); }

Backend& cpu_backend() {
  static CpuBackend* backend = new CpuBackend;  // outlives every static tensor
  return *backend;
}

}  // namespace kaiseki
