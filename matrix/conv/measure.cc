// SPDX-License-Identifier: MIT
#include "matrix/conv/measure.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "matrix/backend/dispatch.h"
#include "matrix/backend/operations/random.h"
#include "matrix/conv/added_once.h"
#include "matrix/conv/sample.h"
#include "matrix/memory/workspace.h"
#include "matrix/tune/choose.h"

namespace kaiseki {
namespace {

constexpr size_t kRunsOfOneImage = 3;
// A solver is measured no further if one image exceeds both limits: 6 times the best time, and
// 200 ms. The factor is large because one image does not keep all threads busy.
constexpr double kHopeless = 6.0, kHopelessMilliseconds = 200;
// A solver that needs more workspace is not measured further if it is not among the best on one
// image.
constexpr uint64_t kLargeWorkspace = uint64_t{64} << 20;

struct NoRoom {};

/// The convolution without bias and activation. The filter's gradient goes to a separate tensor.
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

/// Values from -1 to 1.
void set_random(Tensor& t, uint64_t stream) {
  const RandomArgs args{RandomArgs::Kind::uniform, -1, 1, 1, stream, 0, &t};
  run_operation(kRandom, t, args);
}

class RandomInputs {
 public:
  /// Replaces the tensors that `args` reads by random values.
  void replace(const ConvProblem& problem, ConvArgs& args) {
    const Tensor* written = &output(problem, args);
    Tensor** inputs[] = {&args.x, &args.filter, &args.y};
    for (size_t i = 0; i < values_.size(); ++i) {
      const Tensor& real = **inputs[i];
      if (&real == written) continue;
      values_[i] = Tensor(real.shape(), DType::f32, real.device());
      set_random(values_[i], static_cast<uint64_t>(i));
      *inputs[i] = &values_[i];
    }
  }

 private:
  std::array<Tensor, 3> values_;
};

}  // namespace

ConvMeasurement::ConvMeasurement(Backend& backend, const ConvProblem& problem,
                                 const std::vector<const ConvSolver*>& candidates)
    : backend_(backend), problem_(problem), trials_(candidates.size()) {
  for (const ConvSolver* solver : candidates)
    candidates_.push_back({solver, solver->workspace_bytes(problem)});
}

std::optional<size_t> ConvMeasurement::next() const {
  for (size_t i = 0; i < candidates_.size(); ++i)
    if (!candidates_[i].judged) return i;
  return trials_.next();
}

bool ConvMeasurement::step(const ConvArgs& args) {
  const size_t i = *next();
  Candidate& candidate = candidates_[i];
  std::optional<conv::AddedOnce> added;
  try {
    if (candidate.judged) {
      added.emplace(backend_, args, true);
      trials_.add_time(i, time(*candidate.solver, problem_, args));
      return true;
    }
    candidate.judged = true;
    judge(i, args);
  } catch (const KernelError& error) {  // run_convolution() reports the refusal
    if (added) added->undo(error);
    trials_.fail(i, TuningOutcome::refused);
  } catch (const OutOfMemory& error) {
    if (added) added->undo(error);
    trials_.leave_out(i);
  } catch (const NoRoom&) {
    trials_.leave_out(i);
  }
  return false;
}

void ConvMeasurement::run(const ConvArgs& args) try {
  Tensor gradient;
  const ConvArgs plain = bare(args, problem_.direction, gradient);
  while (!done()) step(plain);
} catch (const OutOfMemory&) {  // no room even for the gradient
  for (size_t i = 0; i < candidates_.size(); ++i) {
    candidates_[i].judged = true;
    trials_.leave_out(i);
  }
}

std::vector<TuningResult> ConvMeasurement::results() const {
  std::vector<TuningResult> subjects;
  for (const Candidate& candidate : candidates_)
    subjects.push_back({std::string(candidate.solver->name()), 0, candidate.workspace});
  return results_of(trials_, subjects);
}

double ConvMeasurement::time(const ConvSolver& solver, const ConvProblem& problem,
                             ConvArgs args) const {
  Workspace::HeldBlock workspace;
  if (const uint64_t bytes = solver.workspace_bytes(problem)) {
    workspace = backend_.device().workspace().use_for_measurement(bytes);
    if (!workspace.memory.defined()) throw NoRoom();
    args.workspace = &workspace.memory;
  }
  return milliseconds_of(backend_, [&] { solver.run(problem, args); });
}

/// Elements that a solver does not write stay NaN. If the inputs are zeros, as a gradient may be in
/// the first step, every solver gives zeros. Then random inputs are used.
bool ConvMeasurement::is_right(const ConvSolver& solver, const ConvProblem& problem,
                               ConvArgs args) const {
  RandomInputs random;
  conv::ResultSample sample(problem, args);
  if (!sample.can_show_errors()) {
    random.replace(problem, args);
    sample = conv::ResultSample(problem, args);
  }
  set_nan(output(problem, args));
  time(solver, problem, args);
  if (sample.matches(output(problem, args))) return true;
  log_warning_once(message("conv2d", solver.name(), " computes wrong values for ", problem_.str(),
                           " on ", backend_.device().name(), " and is not used"));
  return false;
}

bool ConvMeasurement::is_hopeless(double estimate, uint64_t workspace) const {
  if (!likely_) return false;
  if (workspace > kLargeWorkspace) return estimate > Trials::kLost * *likely_;
  return estimate > std::max(kHopeless * *likely_, kHopelessMilliseconds);
}

/// Returns whether the solver's values are right. Returns no value if the solver is too slow; its
/// time is then an estimate.
std::optional<bool> ConvMeasurement::check_on_one_image(size_t candidate, const ConvArgs& all) {
  const ConvSolver& solver = *candidates_[candidate].solver;
  ConvProblem one = problem_;
  one.n = 1;
  if (problem_.n <= 1 || !solver.applicable(one)) return true;
  Tensor x = all.x->slice(0, 0, 1), y = all.y->slice(0, 0, 1);
  ConvArgs args = all;
  args.x = &x, args.y = &y;
  if (!is_right(solver, one, args)) return false;
  double least = time(solver, one, args);
  for (size_t i = 1; i < kRunsOfOneImage; ++i) least = std::min(least, time(solver, one, args));
  const double estimate = static_cast<double>(problem_.n) * least;
  if (is_hopeless(estimate, candidates_[candidate].workspace)) {
    trials_.set_estimate(candidate, estimate);
    return {};
  }
  likely_ = std::min(likely_.value_or(estimate), estimate);
  return true;
}

/// The first runs build kernels and start threads, so they are not timed.
void ConvMeasurement::judge(size_t candidate, const ConvArgs& real) {
  Tensor gradient;
  const ConvArgs all = bare(real, problem_.direction, gradient);
  const std::optional<bool> right = check_on_one_image(candidate, all);
  if (right && (!*right || !is_right(*candidates_[candidate].solver, problem_, all)))
    trials_.fail(candidate, TuningOutcome::wrong);
}

}  // namespace kaiseki
