// SPDX-License-Identifier: MIT
#include "matrix/conv/tuning.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "matrix/conv/measure.h"
#include "matrix/memory/workspace.h"
#include "matrix/tune/measurement_mutex.h"

namespace kaiseki {
namespace {

using conv::conv_key;
using conv::ConvKey;
using conv::lock_case;
using NoRoom = std::set<std::string, std::less<>>;

/// The measurements of TuneMode::amortized that are in progress.
class Unfinished {
 public:
  void put(const ConvKey& key, std::unique_ptr<ConvMeasurement> trials) {
    std::lock_guard lock(mutex_);
    present()[key] = std::move(trials);
  }
  std::unique_ptr<ConvMeasurement> take(const ConvKey& key) {
    std::lock_guard lock(mutex_);
    auto node = present().extract(key);
    return node ? std::move(node.mapped()) : nullptr;
  }
  bool contains(const ConvKey& key) {
    std::lock_guard lock(mutex_);
    return present().contains(key);
  }

 private:
  std::map<ConvKey, std::unique_ptr<ConvMeasurement>>& present() {
    if (epoch_ != tuning_clear_count()) all_.clear(), epoch_ = tuning_clear_count();
    return all_;
  }
  std::mutex mutex_;
  std::map<ConvKey, std::unique_ptr<ConvMeasurement>> all_;
  uint64_t epoch_ = 0;
};

Unfinished& unfinished() {
  static auto* one = new Unfinished;
  return *one;
}

void tell_once(Device device) {
  static std::once_flag told;
  if (tune_policy().mode == TuneMode::exhaustive) return;
  std::call_once(told, [&] {
    log_info(message("conv2d", "measuring the solvers of large convolutions on ", device.name(),
                     ", once per shape"));
  });
}

/// Writes only results measured on this machine.
void keep(Backend& backend, const ConvProblem& problem, const std::vector<TuningResult>& measured) {
  merge_and_store(lock_case(backend, problem).known, convolution_key(backend, problem),
                  conv::solver_names(backend), measured);
}

/// One measurement of a convolution.
class ConvTuner {
 public:
  ConvTuner(Backend& backend, const ConvProblem& problem)
      : backend_(backend),
        problem_(problem),
        available_(backend.device().workspace().available()),
        amortized_(tune_policy().mode == TuneMode::amortized) {}

  ConvTuning run(const ConvArgs& args) {
    for (;;) {
      if (!take_unfinished() && !begin()) return {};
      const bool computed = step(args);
      if (!trials_->done()) {
        unfinished().put(conv_key(backend_, problem_), std::move(trials_));
        return {computed, false};
      }
      const std::vector<TuningResult> measured = trials_->results();
      keep(backend_, problem_, measured);
      give_up_solvers_without(measured);
      // The solver with an estimate may have found no room this time. Then the next one is tried.
      if (!estimate_ || computed) return {computed, !computed && has_no_estimates()};
      if (measured.empty()) no_room_.emplace(estimate_->name());
    }
  }

 private:
  bool take_unfinished() {
    trials_ = unfinished().take(conv_key(backend_, problem_));
    if (trials_) estimate_ = nullptr;
    return trials_ != nullptr;
  }

  /// Returns false if there is nothing to measure.
  bool begin() {
    const conv::LockedCase locked = lock_case(backend_, problem_);
    estimate_ = conv::next_estimate(backend_, locked.known, available_, no_room_);
    const auto solvers = estimate_
                             ? std::vector{estimate_}
                             : conv::untried_solvers(backend_, problem_, locked.known, available_);
    if (solvers.empty()) return false;
    trials_ = std::make_unique<ConvMeasurement>(backend_, problem_, solvers);
    for (const ConvSolver* solver : solvers)
      locked.known.tried[std::string(solver->name())] = available_;
    tried_ = solvers;
    tell_once(backend_.device());
    return true;
  }

  /// A solver that had its workspace and no result lacked other memory. Tensors take it, so it
  /// would lack it again.
  void give_up_solvers_without(const std::vector<TuningResult>& measured) {
    const conv::LockedCase locked = lock_case(backend_, problem_);
    for (const ConvSolver* solver : tried_)
      if (solver->workspace_bytes(problem_) <= backend_.device().workspace().size() &&
          std::ranges::find(measured, solver->name(), &TuningResult::candidate) == measured.end())
        locked.known.tried[std::string(solver->name())] = std::nullopt;
  }

  bool step(const ConvArgs& args) {
    if (!amortized_) {
      trials_->run(args);
      return false;
    }
    bool computed = false;  // only one of many solvers is checked at a time
    do computed = trials_->step(args);
    while (estimate_ && !computed && !trials_->done());
    return computed;
  }

  bool has_no_estimates() const { return lock_case(backend_, problem_).known.estimated.empty(); }

  Backend& backend_;
  const ConvProblem& problem_;
  const uint64_t available_;
  const bool amortized_;
  NoRoom no_room_;
  const ConvSolver* estimate_ = nullptr;  // the solver with an estimate that is measured alone
  std::unique_ptr<ConvMeasurement> trials_;
  std::vector<const ConvSolver*> tried_;  // by trials_, if this object began them
};

}  // namespace

ConvTuning measure_convolution(Backend& backend, const ConvProblem& problem, const ConvArgs& args) {
  if (!measures_convolution(problem)) return {};
  std::lock_guard turn(measurement_mutex());
  return ConvTuner(backend, problem).run(args);
}

bool convolution_is_measured(Backend& backend, const ConvProblem& problem) {
  if (!measures_convolution(problem)) return true;
  if (unfinished().contains(conv_key(backend, problem))) return false;
  const uint64_t available = backend.device().workspace().available();
  const conv::LockedCase locked = lock_case(backend, problem);
  return !conv::next_estimate(backend, locked.known, available, {}) &&
         conv::untried_solvers(backend, problem, locked.known, available).empty();
}

bool would_measure_solver(Backend& backend, const ConvProblem& problem, const ConvSolver& solver) {
  if (!measures_convolution(problem)) return false;
  const uint64_t available = backend.device().workspace().available();
  const conv::LockedCase locked = lock_case(backend, problem);
  const TuningResult* result = locked.known.find(solver.name());
  if (result && !locked.known.is_estimated(result->candidate)) return false;
  return conv::may_find_room(backend, locked.known, solver, solver.workspace_bytes(problem),
                             available);
}

std::optional<double> measure_solver(Backend& backend, const ConvProblem& problem,
                                     const ConvArgs& args, const ConvSolver& solver) {
  if (!would_measure_solver(backend, problem, solver)) return {};
  const uint64_t available = backend.device().workspace().available();
  lock_case(backend, problem).known.tried[std::string(solver.name())] = available;
  std::lock_guard turn(measurement_mutex());
  ConvMeasurement trial(backend, problem, {&solver});
  trial.run(args);
  keep(backend, problem, trial.results());
  return known_time(backend, problem, solver);
}

}  // namespace kaiseki
