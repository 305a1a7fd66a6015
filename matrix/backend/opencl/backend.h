// SPDX-License-Identifier: MIT
// The OpenCL backend. Each operation is in a file of this folder.
#pragma once

#include <mutex>

#include "matrix/backend/backend.h"
#include "matrix/backend/opencl/device.h"
#include "matrix/conv/solver.h"
#include "matrix/opencl.h"
#include "matrix/tensor.h"

namespace kaiseki::opencl {

class OpenclBackend : public Backend {
 public:
  explicit OpenclBackend(OpenclDevice& device);

  OpenclDevice& opencl() const { return device_; }
  Device device() const override { return Device::opencl(device_.index()); }
  DeviceInfo info() const override;
  bool holds(DType type) const override { return type != DType::f64 || device_.facts().has_f64; }
  void synchronize() override { device_.finish(); }
  uint64_t queued_kernels() const override { return opencl_kernel_count().launches; }
  int64_t small_task_limit() override;
  RawMemory& raw_memory() override { return device_; }
  std::span<const ConvSolver* const> conv_solvers() const override;

 private:
  OpenclDevice& device_;
  std::once_flag limit_is_known_;
  int64_t small_task_limit_ = 0;
};

DeviceInfo device_info(int index, const OpenclDeviceProperties& facts);

}  // namespace kaiseki::opencl
