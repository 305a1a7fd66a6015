// SPDX-License-Identifier: MIT
#include "matrix/backend/small_tasks.h"

#include <algorithm>
#include <atomic>

#include "matrix/backend/backend.h"
#include "matrix/memory/buffer.h"

namespace kaiseki {
namespace {

std::atomic<bool> on_cpu = true, deterministic = false;

}  // namespace

void set_small_tasks_on_cpu(bool value) { on_cpu = value; }
void set_small_tasks_deterministic(bool value) { deterministic = value; }

SmallTask is_small_task(const Tensor& result, std::span<const Tensor* const> inputs,
                        double elements) {
  if (result.device().is_cpu() || !on_cpu || deterministic || result.buffer().valid_on_device())
    return SmallTask::no;
  for (const Tensor* input : inputs)
    if (input->buffer().valid_on_device()) return SmallTask::no;
  const int64_t limit = result.device().backend().small_task_limit();
  return SmallTask{elements <= static_cast<double>(limit)};
}

}  // namespace kaiseki
