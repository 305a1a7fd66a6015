// SPDX-License-Identifier: MIT
// A gradient that a solver adds to (beta): where its run fails and another computes in its place,
// nothing is added twice.
#pragma once

#include <cstdint>

#include "matrix/backend.h"
#include "matrix/conv/solver.h"
#include "matrix/error.h"
#include "matrix/tensor.h"

namespace kaiseki::conv {

class AddedOnce {
 public:
  /// Before the run; with a copy of what is added to, if one is wanted and there is room.
  AddedOnce(Backend& backend, const ConvArgs& args, bool copies);

  /// After its failure: the gradient is as before the run. Throws DeviceError where kernels may
  /// have added to it and there is no copy.
  void undo(const Error& error) const;

  bool has_copy() const { return before_.defined(); }

 private:
  Backend& backend_;
  const ConvArgs& args_;
  const uint64_t queued_;
  Tensor before_;
};

}  // namespace kaiseki::conv
