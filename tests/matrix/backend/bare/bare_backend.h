// SPDX-License-Identifier: MIT
// A backend as docs/adding-a-backend.md begins one: device and memory, and no operation yet. It
// stands where the OpenCL backend would, as Device::opencl(0); its memory is the host's, behind
// copies.
#pragma once

#include <set>
#include <vector>

#include "matrix/backend.h"

namespace kaiseki::test {

constexpr uint64_t kBareMemory = 256 << 20;  // bytes that it says it has, and in one buffer
constexpr uint64_t kBareLargest = 64 << 20;

class BareBackend : public Backend, private RawMemory {
 public:
  Device device() const override { return Device::opencl(0); }
  DeviceInfo info() const override;
  bool has(Op op) const override { return operations.contains(op); }
  void synchronize() override {}
  RawMemory& raw_memory() override { return *this; }
  void upload(void* block, const void* host, uint64_t bytes) override;
  void download(void* host, void* block, uint64_t bytes) override;

  void fill(Tensor& t, float value) override;
  std::span<const ConvSolver* const> conv_solvers() const override { return solvers; }

  std::set<Op> operations;                 // that has() says are there
  std::vector<const ConvSolver*> solvers;  // for Op::convolution
  int fills = 0, allocations = 0;
  uint64_t refused_from = UINT64_MAX;  // bytes of which there is no memory

 private:
  void* allocate(uint64_t bytes) override;
  void release(void* block) noexcept override;
};

BareBackend& bare_backend();

}  // namespace kaiseki::test
