// SPDX-License-Identifier: MIT
#include "matrix/conv/candidates.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "matrix/memory/workspace.h"
#include "matrix/threads.h"
#include "matrix/tune/choose.h"
#include "matrix/tune/shipped.h"

namespace kaiseki {
namespace {

// For smaller convolutions, measuring costs more than it gains. Their bits therefore do not depend
// on measurements.
constexpr double kWorthMeasuring = 0.5e9;  // multiplications and additions

TuneTable<conv::ConvKey>& table() {
  static auto* one = new TuneTable<conv::ConvKey>;
  return *one;
}

/// The shipped results of the solvers that exist.
std::vector<TuningResult> estimates(Backend& backend, const ConvProblem& problem,
                                    const TuningKey& key) {
  std::vector<TuningResult> results;
  if (problem.flops() < kWorthMeasuring) return results;
  for (TuningResult& result : shipped_tuning(key))
    for (const ConvSolver* solver : backend.conv_solvers())
      if (solver->name() == result.candidate && solver->applicable(problem)) {
        result.workspace = solver->workspace_bytes(problem);
        results.push_back(std::move(result));
        break;
      }
  return results;
}

/// The initial knowledge about a convolution: measurements from the tuning file, and shipped
/// results for the other solvers.
TuneCase first_met(Backend& backend, const ConvProblem& problem) {
  TuneCase known;
  if (tune_policy().mode == TuneMode::exhaustive) return known;
  const TuningKey key = convolution_key(backend, problem);
  known.results = estimates(backend, problem, key);
  for (const TuningResult& result : known.results) known.estimated.insert(result.candidate);
  learn(known, conv::solver_names(backend), recall_tuning(key));
  return known;
}

bool uses_measurements(const TunePolicy& policy) {
  return policy.mode != TuneMode::off && !policy.deterministic;
}

bool measures_it(const TunePolicy& policy, const ConvProblem& problem) {
  return uses_measurements(policy) && measures(policy, problem.flops(), kWorthMeasuring);
}

/// Builds the list of candidates from the known results.
class Candidates {
 public:
  Candidates(Backend& backend, const ConvProblem& problem, const TunePolicy& policy)
      : backend_(backend), problem_(problem), policy_(policy) {}

  std::vector<ConvCandidate> by_time(const TuneCase& known) {
    const uint64_t available = backend_.device().workspace().available();
    for (const ConvSolver* solver : able()) add(*solver, known, available);
    if (list_.empty()) return std::move(wrong_);  // if all solvers are wrong, all stay candidates
    if (!all_known_) return std::move(list_);
    // A solver with only an estimate is not preferred for its place in the backend's order.
    std::optional<size_t> favored = 0;
    if (known.is_estimated(list_.front().solver->name())) favored.reset();
    std::vector<CandidateTime> times;
    for (const ConvCandidate& c : list_) times.push_back({c.milliseconds, c.refused});
    std::vector<ConvCandidate> sorted;
    for (size_t i : by_speed(times, favored)) sorted.push_back(list_[i]);
    return sorted;
  }

  std::vector<ConvCandidate> in_order() {
    for (const ConvSolver* solver : able())
      list_.push_back({solver, solver->workspace_bytes(problem_)});
    return std::move(list_);
  }

 private:
  std::vector<const ConvSolver*> able() const {
    std::vector<const ConvSolver*> able;
    for (const ConvSolver* solver : backend_.conv_solvers())
      if (solver->applicable(problem_) && (!policy_.deterministic || solver->deterministic()))
        able.push_back(solver);
    return able;
  }

  void add(const ConvSolver& solver, const TuneCase& known, uint64_t available) {
    ConvCandidate candidate{&solver, solver.workspace_bytes(problem_)};
    const TuningResult* result = known.find(solver.name());
    // An estimate may trigger a measurement. It never selects a solver that was not checked on this
    // machine.
    const bool has_room = candidate.workspace <= available;
    if (result && known.is_estimated(result->candidate) &&
        (has_room || !measures_it(policy_, problem_)))
      result = nullptr;
    const auto tried = known.tried.find(solver.name());
    const bool had_no_room =
        tried != known.tried.end() && (!tried->second || candidate.workspace <= *tried->second);
    // The estimates may lack newer solvers.
    if (!result && has_room && !had_no_room && known.estimated.empty()) all_known_ = false;
    if (result && result->outcome == TuningOutcome::timed)
      candidate.milliseconds = result->milliseconds;
    candidate.refused = result && result->outcome == TuningOutcome::refused;
    const bool wrong = result && result->outcome == TuningOutcome::wrong;
    (wrong ? wrong_ : list_).push_back(candidate);
  }

  Backend& backend_;
  const ConvProblem& problem_;
  const TunePolicy policy_;
  std::vector<ConvCandidate> list_, wrong_;
  bool all_known_ = true;
};

}  // namespace

std::vector<ConvCandidate> conv_candidates(Backend& backend, const ConvProblem& problem) {
  const TunePolicy policy = tune_policy();
  Candidates candidates(backend, problem, policy);
  if (!uses_measurements(policy)) return candidates.in_order();
  return candidates.by_time(conv::lock_case(backend, problem).known);
}

bool measures_convolution(const ConvProblem& problem) {
  return measures_it(tune_policy(), problem);
}

std::optional<double> known_time(Backend& backend, const ConvProblem& problem,
                                 const ConvSolver& solver) {
  if (!uses_measurements(tune_policy())) return {};
  const conv::LockedCase locked = conv::lock_case(backend, problem);
  const TuningResult* result = locked.known.find(solver.name());
  const bool measured = result && !locked.known.is_estimated(result->candidate) &&
                        result->outcome == TuningOutcome::timed;
  return measured ? std::optional(result->milliseconds) : std::nullopt;
}

std::optional<double> fastest_known_seconds(Backend& backend, const ConvProblem& problem,
                                            uint64_t workspace) {
  const Workspace& of_device = backend.device().workspace();
  std::optional<double> fastest;
  for (const ConvSolver* solver : backend.conv_solvers()) {
    if (!solver->applicable(problem)) continue;
    const uint64_t bytes = solver->workspace_bytes(problem);
    if (bytes > workspace || !of_device.allows(bytes)) continue;
    const std::optional<double> time = known_time(backend, problem, *solver);
    if (time && (!fastest || *time < *fastest)) fastest = time;
  }
  if (fastest) *fastest /= 1000;
  return fastest;
}

TuningKey convolution_key(Backend& backend, const ConvProblem& problem) {
  const std::string direction = std::string(direction_name(problem.direction)) + ' ';
  TuningKey key = tuning_key(backend.info(), "convolution", direction + problem.str());
  key.which_per_image = direction + problem.str_per_image();
  key.minibatch = problem.n;
  return key;
}

std::vector<TuningResult> conv_results(Backend& backend, const ConvProblem& problem) {
  return conv::lock_case(backend, problem).known.results;
}

namespace conv {

LockedCase lock_case(Backend& backend, const ConvProblem& problem) {
  std::unique_lock lock(table().mutex);
  TuneCase& known =
      table().at(conv_key(backend, problem), [&] { return first_met(backend, problem); });
  return {std::move(lock), known};
}

bool may_find_room(const Backend& backend, const TuneCase& known, const ConvSolver& solver,
                   uint64_t bytes, uint64_t available) {
  const Workspace& workspace = backend.device().workspace();
  const auto tried = known.tried.find(solver.name());
  if (tried == known.tried.end()) return workspace.allows(bytes);
  if (!tried->second) return false;
  if (bytes > *tried->second) return bytes <= available;
  return bytes > 0 && bytes <= workspace.size();
}

std::vector<const ConvSolver*> untried_solvers(Backend& backend, const ConvProblem& problem,
                                               const TuneCase& known, uint64_t available) {
  std::vector<const ConvSolver*> untried;
  for (const ConvSolver* solver : backend.conv_solvers()) {
    if (!solver->applicable(problem) || known.find(solver->name())) continue;
    if (may_find_room(backend, known, *solver, solver->workspace_bytes(problem), available))
      untried.push_back(solver);
  }
  return untried;
}

const ConvSolver* next_estimate(Backend& backend, const TuneCase& known, uint64_t available,
                                const std::set<std::string, std::less<>>& no_room) {
  const auto solvers = backend.conv_solvers();
  std::vector<TuningResult> fastest = known.results;
  std::ranges::stable_sort(fastest, is_faster);
  for (const TuningResult& result : fastest) {
    if (!backend.device().workspace().allows(result.workspace)) continue;
    if (known.is_estimated(result.candidate)) {
      const ConvSolver* solver = *std::ranges::find(solvers, result.candidate, &ConvSolver::name);
      if (no_room.contains(result.candidate) ||
          !may_find_room(backend, known, *solver, result.workspace, available))
        continue;
      return solver;
    }
    if (result.workspace <= available && result.outcome == TuningOutcome::timed) break;
  }
  return nullptr;
}

ConvKey conv_key(Backend& backend, const ConvProblem& problem) {
  return {&backend, backend.device().is_cpu() ? thread_count() : 0, problem};
}

std::vector<std::string_view> solver_names(const Backend& backend) {
  std::vector<std::string_view> names;
  for (const ConvSolver* solver : backend.conv_solvers()) names.push_back(solver->name());
  return names;
}

}  // namespace conv
}  // namespace kaiseki
