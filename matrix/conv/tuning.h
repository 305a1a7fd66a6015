// SPDX-License-Identifier: MIT
// What is known of convolutions on this machine, measured when it has to be: which solvers can do
// one, how fast each is, and with how much workspace.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "matrix/backend.h"
#include "matrix/conv/solver.h"
#include "matrix/tuning_file.h"

namespace kaiseki {

enum class TuneMode : uint8_t {
  off,         // the backend's order of solvers; what was measured is not looked at
  cached,      // what was measured is used, nothing is measured
  hybrid,      // the same, and a large convolution that is not known is measured when it is met
  exhaustive,  // every convolution is measured anew when it is met first
  amortised,   // as hybrid, one step at a time: a timed run is the computation
};

struct ConvPolicy {
  TuneMode mode = TuneMode::hybrid;
  /// Only solvers whose result is always the same, in the backend's order: then the same seed gives
  /// the same bits with any number of threads, measured or not.
  bool deterministic = false;
};

/// For all devices and threads, from the next convolution on.
void set_conv_policy(const ConvPolicy& policy);
ConvPolicy conv_policy();

struct ConvCandidate {
  const ConvSolver* solver;
  double milliseconds;  // infinite: not known
  uint64_t workspace;   // bytes
};

/// The solvers that can do it, without those that computed wrong values: the fastest first if all
/// for which there is workspace were measured, else in the backend's order. A time that the library
/// was shipped with counts only as long as there is no room, and measuring comes first.
std::vector<ConvCandidate> conv_candidates(Backend& backend, const ConvProblem& problem);

/// Whether the policy is to measure it when it is not known.
bool measures_convolution(const ConvProblem& problem);

struct ConvTuning {
  bool computed = false;  // the output is computed already; else its values are of no use, but for
                          // a filter's gradient
  bool settled = true;    // nothing is left to do as long as conv_generation() and the workspace
                          // stay as they are
};
/// Measures what the policy wants to be measured, on these tensors, and keeps it.
ConvTuning tune_convolution(Backend& backend, const ConvProblem& problem, const ConvArgs& args);

/// Whether tune_convolution() would measure nothing now.
bool convolution_known(Backend& backend, const ConvProblem& problem);

/// Milliseconds of one solver, measured now if the policy wants measuring; infinite when not known.
double measured_time(Backend& backend, const ConvProblem& problem, const ConvArgs& args,
                     const ConvSolver& solver);

/// Another number whenever conv_candidates() may give something else.
uint64_t conv_generation();

/// "forward", "backward_data" or "backward_filter".
std::string_view direction_name(ConvDirection direction);
/// By which the tuning file tells measurements on a device apart: the CPU's present threads, or the
/// cores of a CPU's OpenCL device; 0 for a GPU.
int tuning_threads(const DeviceInfo& info);
/// Under which name the tuning file knows a convolution on a device with its present threads.
TuningKey convolution_key(Backend& backend, const ConvProblem& problem);

/// All that is known, in the backend's order.
std::vector<TuningResult> conv_results(Backend& backend, const ConvProblem& problem);
/// Whether all that this process measured could be written to the tuning file.
bool conv_results_kept();

/// For tests: what this process knows is forgotten, and the tuning file read anew.
void forget_convolutions();

}  // namespace kaiseki
