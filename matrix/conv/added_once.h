// SPDX-License-Identifier: MIT
// AddedOnce: undoes a failed run of a solver that adds to a gradient (beta). Without it the next
// solver would add a second time.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "matrix/backend/backend.h"
#include "matrix/conv/solver.h"
#include "matrix/tensor.h"

namespace kaiseki::conv {

class AddedOnce {
 public:
  /// Call before the run. Copies the gradient if `copies` is true and there is room.
  AddedOnce(Backend& backend, const ConvArgs& args, bool copies);

  /// Call after a failure. Restores the gradient. Throws DeviceError if kernels may have added to
  /// it and there is no copy.
  void undo(const Error& error) const;

  bool has_copy() const { return before_.defined(); }

 private:
  Backend& backend_;
  const ConvArgs& args_;
  const uint64_t queued_;
  Tensor before_;
};

}  // namespace kaiseki::conv
