// SPDX-License-Identifier: MIT
// Small tasks: the transfers and the launch of a kernel take longer than the CPU needs for the
// whole operation. Such an operation runs on the CPU if its operands are not on the device yet. Its
// result then is not on the device either, so a chain of small operations transfers nothing.
#pragma once

#include <initializer_list>
#include <span>

#include "matrix/tensor.h"

namespace kaiseki {

class Backend;

/// Default: true. Tests of a device's kernels set false.
void set_small_tasks_on_cpu(bool on_cpu);
/// Off while choices by time must not change results (TunePolicy::deterministic).
void set_small_tasks_deterministic(bool deterministic);

enum class SmallTask : bool { no, yes };

/// Returns whether a task that reads or writes this many elements should run on the CPU
/// (Backend::small_task_limit()). It should not if an input is on the device, or if the result has
/// contents there.
SmallTask is_small_task(const Tensor& result, std::span<const Tensor* const> inputs,
                        double elements);
inline SmallTask is_small_task(const Tensor& result, std::initializer_list<const Tensor*> inputs,
                               double elements) {
  return is_small_task(result, std::span(inputs.begin(), inputs.size()), elements);
}

/// The elements that a core reads or writes in the time of an upload, a kernel and a download. For
/// backends with memory of their own. Measures for about 1 ms.
int64_t measure_small_task_limit(const Backend& backend);

}  // namespace kaiseki
