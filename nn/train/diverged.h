// SPDX-License-Identifier: MIT
// What training throws when it has left the numbers.
#pragma once

#include "matrix/error.h"

namespace kaiseki::nn {

/// The loss, or what would become of it, is NaN or infinite: training cannot go on.
class Diverged : public Error {
 public:
  using Error::Error;
};

}  // namespace kaiseki::nn
