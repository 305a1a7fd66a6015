// SPDX-License-Identifier: MIT
// The candidates for a convolution: the solvers that can compute it, their known times and their
// workspaces. This file measures nothing.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "matrix/backend/backend.h"
#include "matrix/conv/solver.h"
#include "matrix/tune/case.h"

namespace kaiseki {

struct ConvCandidate {
  const ConvSolver* solver;
  uint64_t workspace;                    // bytes
  std::optional<double> milliseconds{};  // set if the solver was timed
  bool refused = false;                  // the driver refuses its kernels
  bool is_known() const { return milliseconds || refused; }
};

/// Returns the solvers that can compute the problem, except those that computed wrong values. If
/// all solvers with enough workspace are measured, the fastest is first. Otherwise they are in the
/// backend's order. If there is room for a solver, its shipped time is ignored: the solver is
/// measured instead.
std::vector<ConvCandidate> conv_candidates(Backend& backend, const ConvProblem& problem);

/// Returns whether the policy measures an unknown convolution of this size.
bool measures_convolution(const ConvProblem& problem);

/// The milliseconds of one solver, measured on this machine. No value if the time is unknown or the
/// policy ignores measurements.
std::optional<double> known_time(Backend& backend, const ConvProblem& problem,
                                 const ConvSolver& solver);

/// The seconds of the fastest solver that was measured on this machine. Its workspace is within the
/// user's limit, and within `workspace` bytes. No value if there is none, or the policy ignores
/// measurements.
std::optional<double> fastest_known_seconds(Backend& backend, const ConvProblem& problem,
                                            uint64_t workspace = UINT64_MAX);

/// The key of a convolution in the tuning file, for this device and the current number of threads.
TuningKey convolution_key(Backend& backend, const ConvProblem& problem);

/// All known results, in the backend's order.
std::vector<TuningResult> conv_results(Backend& backend, const ConvProblem& problem);

namespace conv {

/// The results of a convolution, with the lock held.
struct LockedCase {
  std::unique_lock<std::mutex> lock;
  TuneCase& known;
};
LockedCase lock_case(Backend& backend, const ConvProblem& problem);

/// Returns whether the solver may have room for its workspace now, although it had none before.
bool may_find_room(const Backend& backend, const TuneCase& known, const ConvSolver& solver,
                   uint64_t bytes, uint64_t available);
/// The unmeasured solvers with possible room for their workspace.
std::vector<const ConvSolver*> untried_solvers(Backend& backend, const ConvProblem& problem,
                                               const TuneCase& known, uint64_t available);
/// Returns the solver with an estimate to be measured next, or nullptr. It is the fastest by its
/// estimate and not in `no_room`. If a solver measured here is faster and has room, the result is
/// nullptr.
const ConvSolver* next_estimate(Backend& backend, const TuneCase& known, uint64_t available,
                                const std::set<std::string, std::less<>>& no_room);

/// A convolution of a backend with its number of threads. Measurements are stored separately for
/// each number of threads, or for the device.
using ConvKey = std::tuple<Backend*, int, ConvProblem>;
ConvKey conv_key(Backend& backend, const ConvProblem& problem);
std::vector<std::string_view> solver_names(const Backend& backend);

}  // namespace conv
}  // namespace kaiseki
