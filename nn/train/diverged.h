// SPDX-License-Identifier: MIT
// Diverged: training throws it if the loss is NaN or infinite.
#pragma once

#include "base/error.h"

namespace kaiseki::nn {

/// The loss is NaN or infinite, or it would become so. Training cannot continue.
class Diverged : public Error {
 public:
  using Error::Error;
};

}  // namespace kaiseki::nn
