// SPDX-License-Identifier: MIT
// A backend as in the first steps of docs/adding-a-backend.md: a device and memory, but no
// operations. Its memory is host memory that is accessed through copies.
#pragma once

#include <vector>

#include "matrix/backend/backend.h"
#include "matrix/backend/registry.h"
#include "matrix/conv/solver.h"
#include "matrix/memory/raw_memory.h"

namespace kaiseki::test {

/// Reported size in bytes of its memory and of its largest buffer.
constexpr uint64_t kBareMemory = 256 << 20;
constexpr uint64_t kBareLargest = 64 << 20;

/// "bare:0"
Device bare_device();

class BareBackend : public Backend, private RawMemory {
 public:
  Device device() const override { return bare_device(); }
  DeviceInfo info() const override;
  bool holds(DType) const override { return true; }  // so that operations of f64 fall back too
  void synchronize() override {}
  RawMemory& raw_memory() override { return *this; }

  void add_fill();
  void remove_operations() { kernels_.clear(); }
  std::span<const ConvSolver* const> conv_solvers() const override { return solvers; }

  std::vector<const ConvSolver*> solvers;
  int fills = 0, allocations = 0;
  uint64_t refused_from = UINT64_MAX;  // allocations of at least this many bytes fail

 private:
  void* allocate(uint64_t bytes) override;
  void release(void* block) noexcept override;
};

BareBackend& bare_backend();

}  // namespace kaiseki::test

namespace kaiseki {
const BackendEntry& bare_backend_entry();
}
