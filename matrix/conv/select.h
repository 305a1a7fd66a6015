// SPDX-License-Identifier: MIT
// Chooses the solver of a convolution and runs it: the fastest as measured on this machine where it
// was measured, else the first of the backend's list that can do it.
#pragma once

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "matrix/backend.h"
#include "matrix/conv/solver.h"
#include "matrix/tuning_file.h"

namespace kaiseki {

/// Runs the first solver in this order that can do it and for whose workspace, taken from the
/// device's pool, there is room. One whose kernels the driver refuses gives way to the next. Throws
/// KernelError when none is left for that reason, OutOfMemory when none has room, DeviceError when
/// none can.
void run_convolution(Backend& backend, const ConvProblem& problem, ConvArgs args);

/// The solvers that can do it, the fastest first where each was measured, and without those that
/// computed wrong values; else in the backend's order.
std::vector<const ConvSolver*> solver_order(Backend& backend, const ConvProblem& problem);

/// "forward", "backward_data" or "backward_filter".
std::string_view direction_name(ConvDirection direction);
/// Under which name the tuning file knows a convolution on a device with its present threads.
TuningKey convolution_key(Backend& backend, const ConvProblem& problem);

/// Called with every convolution before it runs; `results` as measure_convolution().
using ConvReport =
    std::function<void(const ConvProblem& problem, const std::vector<TuningResult>& results)>;

/// While it lives, every convolution that it did not yet meet is measured, and the results are
/// remembered for all that follow, in this process and others. One at a time; other threads may not
/// compute meanwhile.
class TuneConvolutions {
 public:
  explicit TuneConvolutions(ConvReport report);
  ~TuneConvolutions();
  TuneConvolutions(const TuneConvolutions&) = delete;
  TuneConvolutions& operator=(const TuneConvolutions&) = delete;

  /// Whether all results could be written to the tuning file.
  bool kept() const { return kept_; }
  void before(Backend& backend, const ConvProblem& problem, const ConvArgs& args);

 private:
  ConvReport report_;
  bool kept_ = true;
  std::map<std::pair<Backend*, ConvProblem>, std::vector<TuningResult>> results_;
};

/// For tests: what this process knows of the tuning file is read anew.
void forget_solver_orders();

}  // namespace kaiseki
