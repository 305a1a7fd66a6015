// SPDX-License-Identifier: MIT
// Backend: a device, its memory and its kernels. The functions of matrix/ops check shapes once and
// run an operation; kernels do not check again. The CPU backend has a kernel for every operation
// and works on the host copies of tensors. It runs the operations that a device lacks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "matrix/backend/kernel_table.h"
#include "matrix/device.h"
#include "matrix/dtype.h"

namespace kaiseki {

class ConvSolver;
class RawMemory;

class Backend {
 public:
  virtual ~Backend() = default;

  virtual Device device() const = 0;
  virtual DeviceInfo info() const = 0;
  /// Returns whether tensors of this type may be on the device.
  virtual bool holds(DType type) const { return type != DType::f64; }
  virtual void synchronize() = 0;
  /// The number of kernels queued since the program started, if operations consist of several
  /// kernels.
  virtual uint64_t queued_kernels() const { return 0; }

  /// Tasks of at most this many elements are faster on the CPU, with their transfers. 0 if the
  /// backend has no memory of its own. The first call may measure it.
  virtual int64_t small_task_limit() { return 0; }

  /// The device's memory, for its allocator.
  virtual RawMemory& raw_memory() = 0;

  template <class Args>
  bool has(const Operation<Args>& operation) const {
    return kernels_.has(operation);
  }
  /// Returns the names of the operations that the backend has, in no order.
  std::vector<std::string_view> operations() const { return kernels_.names(); }
  /// Throws DeviceError if the backend lacks the operation, and KernelError if the driver refuses a
  /// kernel.
  template <class Args>
  void run(const Operation<Args>& operation, const Args& args) const {
    if (!kernels_.run(operation, args)) throw_missing_operation(operation.name);
  }

  /// The backend's convolutions. Empty if it has none.
  virtual std::span<const ConvSolver* const> conv_solvers() const { return {}; }

 protected:
  KernelTable kernels_;

 private:
  [[noreturn]] void throw_missing_operation(std::string_view operation) const;
};

}  // namespace kaiseki
