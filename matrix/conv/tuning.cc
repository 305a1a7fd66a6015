// SPDX-License-Identifier: MIT
#include "matrix/conv/tuning.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>

#include "matrix/conv/measure.h"
#include "matrix/conv/shipped.h"
#include "matrix/error.h"
#include "matrix/log.h"
#include "matrix/memory/workspace.h"
#include "matrix/threads.h"

namespace kaiseki {
namespace {

// Smaller ones gain less by measuring than it costs, and so their bits do not depend on it.
constexpr double kWorthMeasuring = 0.5e9;  // multiplications and additions
// What would run unmeasured is left for another one that is this much faster, as the next
// measurement may say otherwise.
constexpr double kWorthChanging = 0.95;
constexpr double kUnknown = std::numeric_limits<double>::infinity();

struct Known {
  std::vector<TuningResult> results;
  std::set<std::string> estimated{};          // of the results, those that are another machine's
  bool scaled = false;                        // which are adapted to this one
  std::unique_ptr<ConvMeasurement> trials{};  // amortised, not done
  // Measured, or without the room for it: with so many bytes of workspace there.
  std::map<const ConvSolver*, uint64_t> tried{};
};

struct Table {
  std::mutex mutex;
  std::mutex measuring;  // one convolution at a time: they would slow each other
  ConvPolicy policy;
  bool kept = true, told = false;
  std::map<std::tuple<Backend*, int, ConvProblem>, Known> all;
};

std::atomic<uint64_t> generation{1};

Table& table() {
  static auto* one = new Table;
  return *one;
}

int threads_of(Backend& backend) { return backend.device().is_cpu() ? thread_count() : 0; }

/// What is shipped, of solvers that there are.
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

/// What is measured is no estimate any more; the first that is tells how much slower than the other
/// machine this one is.
void adapt_estimates(Known& of, const TuningResult& measured) {
  const auto old = std::ranges::find(of.results, measured.candidate, &TuningResult::candidate);
  if (!of.estimated.erase(measured.candidate) || of.scaled ||
      measured.milliseconds >= kRefusedMilliseconds)
    return;
  const double factor = measured.milliseconds / old->milliseconds;
  for (TuningResult& other : of.results)
    if (of.estimated.contains(other.candidate)) other.milliseconds *= factor;
  of.scaled = true;
}

/// Puts what was measured in the place of what was known, in the backend's order.
void learn(Backend& backend, Known& of, const std::vector<TuningResult>& measured) {
  for (const TuningResult& result : measured) {
    adapt_estimates(of, result);
    std::erase_if(of.results,
                  [&](const TuningResult& old) { return old.candidate == result.candidate; });
    of.results.push_back(result);
  }
  const auto solvers = backend.conv_solvers();
  std::ranges::stable_sort(of.results, {}, [&](const TuningResult& result) {
    return std::ranges::find(solvers, result.candidate, &ConvSolver::name) - solvers.begin();
  });
}

/// The lock is held. When it is met first: what was measured, as the file has it, and for the other
/// solvers what is shipped.
Known& known(Backend& backend, const ConvProblem& problem) {
  const auto [at, is_new] = table().all.try_emplace({&backend, threads_of(backend), problem});
  Known& of = at->second;
  if (is_new && table().policy.mode != TuneMode::exhaustive) {
    const TuningKey key = convolution_key(backend, problem);
    of.results = estimates(backend, problem, key);
    for (const TuningResult& result : of.results) of.estimated.insert(result.candidate);
    learn(backend, of, recall_tuning(key));
  }
  return of;
}

bool uses_measurements(const ConvPolicy& policy) {
  return policy.mode != TuneMode::off && !policy.deterministic;
}

bool measures(const ConvPolicy& policy, const ConvProblem& problem) {
  if (!uses_measurements(policy) || policy.mode == TuneMode::cached) return false;
  return policy.mode == TuneMode::exhaustive || problem.flops() >= kWorthMeasuring;
}

const TuningResult* find(const std::vector<TuningResult>& results, const ConvSolver& solver) {
  const auto found = std::ranges::find(results, solver.name(), &TuningResult::candidate);
  return found == results.end() ? nullptr : &*found;
}

/// Whether it may find room for its workspace that it did not find before.
bool may_find_room(const Backend& backend, const Known& of, const ConvSolver& solver,
                   uint64_t bytes, uint64_t available) {
  const Workspace& workspace = backend.device().workspace();
  const auto tried = of.tried.find(&solver);
  if (tried == of.tried.end()) return workspace.allows(bytes);
  if (bytes > tried->second) return bytes <= available;
  return bytes > 0 && bytes <= workspace.size();
}

/// The solvers that are not measured, though there may be room for their workspace.
std::vector<const ConvSolver*> untried_solvers(Backend& backend, const ConvProblem& problem,
                                               const Known& of, uint64_t available) {
  std::vector<const ConvSolver*> untried;
  for (const ConvSolver* solver : backend.conv_solvers()) {
    if (!solver->applicable(problem) || find(of.results, *solver)) continue;
    if (may_find_room(backend, of, *solver, solver->workspace_bytes(problem), available))
      untried.push_back(solver);
  }
  return untried;
}

/// The estimate to be measured next, but for those of `no_room`: the one that is said to be the
/// fastest, unless what was measured here is faster and has room now. nullptr: none is.
const ConvSolver* next_estimate(Backend& backend, const Known& of, uint64_t available,
                                const std::set<std::string>& no_room) {
  const auto solvers = backend.conv_solvers();
  std::vector<TuningResult> fastest = of.results;
  std::ranges::stable_sort(fastest, {}, &TuningResult::milliseconds);
  for (const TuningResult& result : fastest) {
    if (!backend.device().workspace().allows(result.workspace)) continue;
    if (of.estimated.contains(result.candidate)) {
      if (no_room.contains(result.candidate)) continue;
      return *std::ranges::find(solvers, result.candidate, &ConvSolver::name);
    }
    if (result.workspace <= available && result.milliseconds < kRefusedMilliseconds) break;
  }
  return nullptr;
}

/// The lock is held. Only what was measured here is written.
void keep(Backend& backend, const ConvProblem& problem, Known& of,
          const std::vector<TuningResult>& measured) {
  if (measured.empty()) return;
  learn(backend, of, measured);
  const bool written = remember_tuning(convolution_key(backend, problem), measured);
  table().kept = table().kept && written;
  ++generation;
}

void tell_once(Table& of, Device device) {
  if (of.told || of.policy.mode == TuneMode::exhaustive) return;
  of.told = true;
  log_info(message("conv2d", "measuring the ways to compute large convolutions on ", device.name(),
                   ", once for each shape"));
}

}  // namespace

void set_conv_policy(const ConvPolicy& policy) {
  std::lock_guard lock(table().mutex);
  if (policy.mode == TuneMode::exhaustive) table().all.clear();
  table().policy = policy;
  ++generation;
}

uint64_t conv_generation() { return generation; }

ConvPolicy conv_policy() {
  std::lock_guard lock(table().mutex);
  return table().policy;
}

std::string_view direction_name(ConvDirection direction) {
  constexpr std::string_view kNames[] = {"forward", "backward_data", "backward_filter"};
  return kNames[static_cast<int>(direction)];
}

int tuning_threads(const DeviceInfo& info) {
  if (info.device.is_cpu()) return thread_count();
  return info.is_gpu ? 0 : info.compute_units;
}

TuningKey convolution_key(Backend& backend, const ConvProblem& problem) {
  const DeviceInfo info = backend.info();
  return {info.name, backend.device().is_cpu() ? info.platform : info.driver, tuning_threads(info),
          "convolution", std::string(direction_name(problem.direction)) + ' ' + problem.str()};
}

std::vector<ConvCandidate> conv_candidates(Backend& backend, const ConvProblem& problem) {
  const uint64_t available = backend.device().workspace().available();
  std::lock_guard lock(table().mutex);
  const ConvPolicy& policy = table().policy;
  const bool by_time = uses_measurements(policy);
  std::vector<ConvCandidate> candidates;
  bool all = true;
  for (const ConvSolver* solver : backend.conv_solvers()) {
    if (!solver->applicable(problem) || (policy.deterministic && !solver->deterministic()))
      continue;
    const Known* of = by_time ? &known(backend, problem) : nullptr;
    const auto* measured = of ? find(of->results, *solver) : nullptr;
    const uint64_t bytes = solver->workspace_bytes(problem);
    // An estimate is a reason to make room and measure, none to run what was not checked here.
    if (measured && of->estimated.contains(measured->candidate) &&
        (bytes <= available || !measures(policy, problem)))
      measured = nullptr;
    const bool had_no_room = of && of->tried.contains(solver) && bytes <= of->tried.at(solver);
    const bool estimates = of && !of->estimated.empty();  // may not have a newer solver
    if (!measured && bytes <= available && !had_no_room && !estimates) all = false;
    candidates.push_back({solver, measured ? measured->milliseconds : kUnknown, bytes});
  }
  const auto wrong = [](const ConvCandidate& c) { return c.milliseconds == kWrongMilliseconds; };
  if (std::ranges::all_of(candidates, wrong)) return candidates;  // nobody is left to believe
  std::erase_if(candidates, wrong);
  if (!all || candidates.empty()) return candidates;
  const ConvSolver* first = candidates.front().solver;
  if (by_time && known(backend, problem).estimated.contains(std::string(first->name())))
    first = nullptr;  // its place is no reason to run it unchecked
  std::ranges::stable_sort(candidates, {}, [&](const ConvCandidate& c) {
    return c.milliseconds * (c.solver == first ? kWorthChanging : 1);
  });
  return candidates;
}

bool measures_convolution(const ConvProblem& problem) {
  std::lock_guard lock(table().mutex);
  return measures(table().policy, problem);
}

ConvTuning tune_convolution(Backend& backend, const ConvProblem& problem, const ConvArgs& args) {
  Table& all = table();
  std::unique_lock lock(all.mutex);
  if (!measures(all.policy, problem)) return {};
  const bool amortised = all.policy.mode == TuneMode::amortised;
  lock.unlock();
  std::lock_guard measuring(all.measuring);
  const uint64_t available = backend.device().workspace().available();
  std::set<std::string> no_room;
  for (;;) {
    lock.lock();
    const ConvSolver* estimate = nullptr;
    auto trials = std::move(known(backend, problem).trials);
    if (!trials) {
      Known& of = known(backend, problem);
      estimate = next_estimate(backend, of, available, no_room);
      const auto solvers =
          estimate ? std::vector{estimate} : untried_solvers(backend, problem, of, available);
      if (solvers.empty()) return {};
      trials = std::make_unique<ConvMeasurement>(backend, problem, solvers);
      for (const ConvSolver* solver : solvers) of.tried[solver] = available;
      tell_once(all, backend.device());
    }
    lock.unlock();
    bool computed = false;
    if (amortised)  // of many, one is checked at a time
      do computed = trials->step(args);
      while (estimate && !computed && !trials->done());
    else
      trials->run(args);
    lock.lock();
    Known& of = known(backend, problem);
    if (!trials->done()) {
      of.trials = std::move(trials);
      return {computed, false};
    }
    const std::vector<TuningResult> measured = trials->results();
    keep(backend, problem, of, measured);
    // What went on with an earlier call's estimate may have found no room: then there are others.
    if (!estimate || computed) return {computed, !computed && of.estimated.empty()};
    if (measured.empty()) no_room.emplace(estimate->name());
    lock.unlock();
  }
}

bool convolution_known(Backend& backend, const ConvProblem& problem) {
  const uint64_t available = backend.device().workspace().available();
  std::lock_guard lock(table().mutex);
  if (!measures(table().policy, problem)) return true;
  const Known& of = known(backend, problem);
  if (of.trials) return false;
  if (next_estimate(backend, of, available, {})) return false;
  return untried_solvers(backend, problem, of, available).empty();
}

double measured_time(Backend& backend, const ConvProblem& problem, const ConvArgs& args,
                     const ConvSolver& solver) {
  Table& all = table();
  const uint64_t available = backend.device().workspace().available();
  std::unique_lock lock(all.mutex);
  if (!uses_measurements(all.policy)) return kUnknown;
  Known& of = known(backend, problem);
  if (const auto* result = find(of.results, solver))
    if (!of.estimated.contains(result->candidate)) return result->milliseconds;
  if (!measures(all.policy, problem) ||
      !may_find_room(backend, of, solver, solver.workspace_bytes(problem), available))
    return kUnknown;
  of.tried[&solver] = available;
  lock.unlock();
  std::lock_guard measuring(all.measuring);
  ConvMeasurement trial(backend, problem, {&solver});
  trial.run(args);
  lock.lock();
  const std::vector<TuningResult> results = trial.results();
  keep(backend, problem, known(backend, problem), results);
  return results.empty() ? kUnknown : results[0].milliseconds;
}

std::vector<TuningResult> conv_results(Backend& backend, const ConvProblem& problem) {
  std::lock_guard lock(table().mutex);
  return known(backend, problem).results;
}

bool conv_results_kept() {
  std::lock_guard lock(table().mutex);
  return table().kept;
}

void forget_convolutions() {
  std::lock_guard lock(table().mutex);
  table().all.clear();
  table().kept = true;
  ++generation;
}

}  // namespace kaiseki
