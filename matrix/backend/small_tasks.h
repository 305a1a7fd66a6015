// SPDX-License-Identifier: MIT
// Small tasks: the transfers and the launch of a kernel take longer than the CPU needs for the
// whole operation. Such an operation runs on the CPU if its operands are not on the device yet. Its
// result then is not on the device either, so a chain of small operations transfers nothing.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "matrix/tensor.h"

namespace kaiseki {

/// Default: true. Tests of a device's kernels set false.
void set_small_tasks_on_cpu(bool on_cpu);
/// Off while choices by time must not change results (TunePolicy::deterministic).
void set_small_tasks_deterministic(bool deterministic);

/// The elements that a core reads or writes in the time of one small task on the device: an upload,
/// a kernel and a download. 0 on the CPU. The first call of a device measures this for about 1 ms.
int64_t small_task_limit(Device device);

enum class SmallTask : bool { no, yes };

/// Returns whether a task that reads or writes this many elements should run on the CPU. It should
/// not if an input is on the device, or if the result has contents there.
SmallTask is_small_task(const Tensor& result, std::span<const Tensor* const> inputs,
                        double elements);
inline SmallTask is_small_task(const Tensor& result, std::initializer_list<const Tensor*> inputs,
                               double elements) {
  return is_small_task(result, std::span(inputs.begin(), inputs.size()), elements);
}

}  // namespace kaiseki
