// SPDX-License-Identifier: MIT
#include "matrix/conv/measure.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>

#include "matrix/conv/added_once.h"
#include "matrix/conv/sample.h"
#include "matrix/error.h"
#include "matrix/log.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/random.h"

namespace kaiseki {
namespace {

constexpr size_t kRuns = 3, kQuickRuns = 7;
constexpr double kQuick = 10;  // milliseconds: a busy moment is longer than several of its runs
constexpr double kLost = 1.5;  // times the best: not run again
// Not run on all images: by one, this many times the best and this long. One image does not keep
// all threads busy.
constexpr double kHopeless = 6.0, kHopelessMilliseconds = 200;
// Nor where so much memory would be touched for what is slower by one image.
constexpr uint64_t kLargeWorkspace = uint64_t{64} << 20;

struct NoRoom {};

/// The convolution alone, with the filter's gradient in a place of its own.
ConvArgs bare(const ConvArgs& args, ConvDirection direction, Tensor& gradient) {
  ConvArgs plain = args;
  plain.bias = nullptr, plain.activation = Activation::none, plain.beta = 0;
  if (direction == ConvDirection::backward_filter) {
    gradient = Tensor(args.filter->shape(), DType::f32, args.filter->device());
    plain.filter = &gradient;
  }
  return plain;
}

Tensor& output(const ConvProblem& problem, const ConvArgs& args) {
  return problem.direction == ConvDirection::forward         ? *args.y
         : problem.direction == ConvDirection::backward_data ? *args.x
                                                             : *args.filter;
}

class RandomInputs {
 public:
  /// Puts random values in the place of what `args` has to read.
  void replace(const ConvProblem& problem, ConvArgs& args) {
    const Tensor* written = &output(problem, args);
    Tensor** inputs[] = {&args.x, &args.filter, &args.y};
    Random random(1);
    for (size_t i = 0; i < values_.size(); ++i) {
      const Tensor& real = **inputs[i];
      if (&real == written) continue;
      values_[i] = Tensor(real.shape(), DType::f32, real.device());
      random_uniform(values_[i], random, -1, 1);
      *inputs[i] = &values_[i];
    }
  }

 private:
  std::array<Tensor, 3> values_;
};

}  // namespace

double ConvMeasurement::Trial::milliseconds() const {
  if (verdict) return *verdict;
  if (runs.empty()) return std::numeric_limits<double>::infinity();
  std::vector<double> sorted = runs;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 2];
}

ConvMeasurement::ConvMeasurement(Backend& backend, const ConvProblem& problem,
                                 const std::vector<const ConvSolver*>& candidates)
    : backend_(backend), problem_(problem) {
  for (const ConvSolver* solver : candidates)
    trials_.push_back({solver, solver->workspace_bytes(problem)});
}

double ConvMeasurement::best() const {
  double least = std::numeric_limits<double>::infinity();
  for (const Trial& trial : trials_) least = std::min(least, trial.milliseconds());
  return least;
}

/// One that would run unmeasured is not stopped, or a busy moment in its only run would send it
/// away for good.
const ConvMeasurement::Trial* ConvMeasurement::next() const {
  for (const Trial& trial : trials_)
    if (!trial.judged) return &trial;
  const size_t rounds = best() < kQuick ? kQuickRuns : kRuns;
  for (size_t round = 0; round < rounds; ++round)
    for (const Trial& trial : trials_)
      if (!trial.verdict && !trial.no_room && trial.runs.size() == round &&
          (round == 0 || &trial == &trials_.front() || trial.milliseconds() <= kLost * best()))
        return &trial;
  return nullptr;
}

bool ConvMeasurement::step(const ConvArgs& args) {
  Trial& trial = const_cast<Trial&>(*next());
  std::optional<conv::AddedOnce> added;
  try {
    if (trial.judged) {
      added.emplace(backend_, args, true);
      trial.runs.push_back(time(*trial.solver, problem_, args));
      return true;
    }
    trial.judged = true;
    judge(trial, args);
  } catch (const KernelError& error) {  // run_convolution() says so
    if (added) added->undo(error);
    trial.verdict = kRefusedMilliseconds;
  } catch (const OutOfMemory& error) {
    if (added) added->undo(error);
    trial.no_room = true;
  } catch (const NoRoom&) {
    trial.no_room = true;
  }
  return false;
}

void ConvMeasurement::run(const ConvArgs& args) try {
  Tensor gradient;
  const ConvArgs plain = bare(args, problem_.direction, gradient);
  while (!done()) step(plain);
} catch (const OutOfMemory&) {  // not even for the gradient
  for (Trial& trial : trials_) trial.judged = trial.no_room = true;
}

std::vector<TuningResult> ConvMeasurement::results() const {
  std::vector<TuningResult> results;
  for (const Trial& trial : trials_)
    if (!trial.no_room && (trial.verdict || !trial.runs.empty()))
      results.push_back({std::string(trial.solver->name()), trial.milliseconds(), trial.workspace});
  return results;
}

double ConvMeasurement::time(const ConvSolver& solver, const ConvProblem& problem,
                             ConvArgs args) const {
  Workspace::Use workspace;
  if (const uint64_t bytes = solver.workspace_bytes(problem)) {
    workspace = backend_.device().workspace().try_out(bytes);
    if (!workspace.memory.defined()) throw NoRoom();
    args.workspace = &workspace.memory;
  }
  backend_.synchronize();
  const auto start = std::chrono::steady_clock::now();
  solver.run(problem, args);
  backend_.synchronize();
  return 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What a solver does not write stays NaN. Of zeros, as a gradient may be in the first step, any
/// solver makes zeros, so that random values judge then.
bool ConvMeasurement::right(const ConvSolver& solver, const ConvProblem& problem,
                            ConvArgs args) const {
  RandomInputs random;
  conv::Sample sample(problem, args);
  if (!sample.judges()) {
    random.replace(problem, args);
    sample = conv::Sample(problem, args);
  }
  fill(output(problem, args), std::numeric_limits<float>::quiet_NaN());
  time(solver, problem, args);
  if (sample.agrees(output(problem, args))) return true;
  log_warning_once(message("conv2d", solver.name(), " computes wrong values for ", problem_.str(),
                           " on ", backend_.device().name(), " and is not used"));
  return false;
}

/// First on one image: that run builds kernels and starts threads, and is not timed; neither is the
/// first on all.
void ConvMeasurement::judge(Trial& trial, const ConvArgs& real) {
  const ConvSolver& solver = *trial.solver;
  Tensor gradient;
  const ConvArgs all = bare(real, problem_.direction, gradient);
  ConvProblem one = problem_;
  one.n = 1;
  bool serves = true;
  if (problem_.n > 1 && solver.applicable(one)) {
    Tensor x = all.x->slice(0, 0, 1), y = all.y->slice(0, 0, 1);
    ConvArgs args = all;
    args.x = &x, args.y = &y;
    serves = right(solver, one, args);
    double least = serves ? std::numeric_limits<double>::infinity() : 0;
    for (size_t i = 0; serves && i < kRuns; ++i) least = std::min(least, time(solver, one, args));
    const double estimate = static_cast<double>(problem_.n) * least;
    const double limit = trial.workspace > kLargeWorkspace
                             ? kLost * likely_
                             : std::max(kHopeless * likely_, kHopelessMilliseconds);
    if (estimate > limit) {
      trial.verdict = estimate;
      return;
    }
    if (serves) likely_ = std::min(likely_, estimate);
  }
  if (!serves || !right(solver, problem_, all)) trial.verdict = kWrongMilliseconds;
}

}  // namespace kaiseki
