// SPDX-License-Identifier: MIT
// Chooses the backend for an operation. Usually that is the tensor's own backend. If it lacks the
// operation or its driver refuses a kernel, the CPU's backend runs it. Such runs are counted, and
// logged once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "matrix/backend/backend.h"
#include "matrix/backend/registry.h"
#include "matrix/backend/small_tasks.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// The number of operations that ran on the CPU as a fallback since the program started.
uint64_t fallback_count();
/// "gemm on opencl:0": the last of these operations and its device. Empty if there was none.
std::string last_fallback();

/// Counts that the device lacks the operation, and logs it once. Returns the CPU's backend.
Backend& count_missing_operation(std::string_view operation, Device device);
/// Counts a refusal, and logs once that the device's driver refuses a kernel of this operation.
void count_refused_kernel(std::string_view operation, Device device, const KernelError& refusal);

/// Calls `run` with the tensor's own backend if that has the operation, else with the CPU's.
/// Calls it again with the CPU's backend if the driver refuses a kernel.
template <class Run>
void run_or_fall_back(std::string_view operation, bool has, const Tensor& tensor, const Run& run) {
  try {
    run(has ? tensor.device().backend() : count_missing_operation(operation, tensor.device()));
  } catch (const KernelError& refusal) {
    count_refused_kernel(operation, tensor.device(), refusal);
    run(cpu_backend());
  }
}

/// Runs the operation on the tensor's device. `prepare(backend)` is called before.
template <class Args, class Prepare>
void run_operation(const Operation<Args>& operation, const Tensor& tensor, const Args& args,
                   const Prepare& prepare) {
  run_or_fall_back(operation.name, tensor.device().backend().has(operation), tensor,
                   [&](Backend& backend) {
                     prepare(backend);
                     backend.run(operation, args);
                   });
}
template <class Args>
void run_operation(const Operation<Args>& operation, const Tensor& tensor, const Args& args) {
  run_operation(operation, tensor, args, [](Backend&) {});
}

/// Runs the operation on the CPU if it is small (is_small_task()), else on the result's device.
template <class Args>
void run_operation(const Operation<Args>& operation, const Tensor& result, const Args& args,
                   SmallTask small) {
  if (small == SmallTask::yes)
    cpu_backend().run(operation, args);
  else
    run_operation(operation, result, args);
}

/// Calls `run` with a backend that has solvers of convolutions.
template <class Run>
void run_with_conv_solvers(const Tensor& tensor, const Run& run) {
  const bool has = !tensor.device().backend().conv_solvers().empty();
  run_or_fall_back("convolution", has, tensor, run);
}

}  // namespace kaiseki
