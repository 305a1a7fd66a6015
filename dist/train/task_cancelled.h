// SPDX-License-Identifier: MIT
// TaskCancelled: training throws it if its task was cancelled at the coordinator.
#pragma once

#include "base/error.h"

namespace kaiseki::dist {

/// The coordinator has cancelled the task. Training cannot continue under this task.
class TaskCancelled : public Error {
 public:
  using Error::Error;
};

}  // namespace kaiseki::dist
