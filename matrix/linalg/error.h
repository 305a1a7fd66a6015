// SPDX-License-Identifier: MIT
// The exception for matrices that a decomposition cannot handle.
#pragma once

#include "base/error.h"

namespace kaiseki {

/// The elements do not allow the operation. The matrix is singular or not positive definite, has
/// NaN or infinite elements, or an iteration does not converge.
class LinearAlgebraError : public Error {
 public:
  using Error::Error;
};

}  // namespace kaiseki
