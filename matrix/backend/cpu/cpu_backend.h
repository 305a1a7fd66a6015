// SPDX-License-Identifier: MIT
// CpuBackend implements every operation on the thread team. Vector loops use Highway. Each
// operation has its own file in this folder. For a tensor on another device, it uses the tensor's
// host copy.
#pragma once

#include <string>

#include "matrix/backend/backend.h"

namespace kaiseki {

class CpuBackend : public Backend {
 public:
  /// Limits the instruction set to KAISEKI_CPU_TARGET. Throws Error if the value is not a known
  /// target.
  CpuBackend();

  Device device() const override { return Device::cpu(); }
  DeviceInfo info() const override;
  bool holds(DType) const override { return true; }
  /// Operations are over when they return. Waits for copies to and from a store.
  void synchronize() override;

  RawMemory& raw_memory() override;
  std::span<const ConvSolver* const> conv_solvers() const override;

 private:
  std::string instruction_set_;  // "AVX3"
};

}  // namespace kaiseki
