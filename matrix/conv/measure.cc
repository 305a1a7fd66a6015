// SPDX-License-Identifier: MIT
#include "matrix/conv/measure.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

#include "matrix/conv/sample.h"
#include "matrix/error.h"
#include "matrix/log.h"
#include "matrix/ops/copy.h"

namespace kaiseki {
namespace {

constexpr int kRuns = 3;
constexpr double kLost = 1.5;      // times the best: not run again
constexpr double kLostCold = 4.0;  // by the first run, which met cold caches
constexpr double kHopeless = 8.0;  // times the best, by one image: not run at all

struct Trial {
  const ConvSolver* solver;
  std::vector<double> milliseconds;
  uint64_t workspace;

  double median() const {
    std::vector<double> sorted = milliseconds;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
};

class Measurement {
 public:
  Measurement(Backend& backend, const ConvProblem& problem, const ConvArgs& args)
      : backend_(backend), problem_(problem), args_(args) {
    args_.bias = nullptr, args_.activation = Activation::none, args_.beta = 0;
    if (problem.direction == ConvDirection::backward_filter) {
      gradient_ = Tensor(args.filter->shape(), DType::f32, backend.device());
      args_.filter = &gradient_;
    }
  }

  std::vector<TuningResult> run() {
    const conv::Sample sample(problem_, args_);
    for (const ConvSolver* solver : backend_.conv_solvers())
      if (solver->applicable(problem_)) attempt(*solver, sample);
    for (int round = 0; round < kRuns; ++round)
      for (Trial& trial : trials_)
        if (trial.median() <= (round == 0 ? kLostCold : kLost) * best()) {
          const double milliseconds = time(*trial.solver, problem_, args_);
          if (round == 0) trial.milliseconds.clear();
          trial.milliseconds.push_back(milliseconds);
        }
    std::vector<TuningResult> results;
    for (const Trial& trial : trials_)
      results.push_back({std::string(trial.solver->name()), trial.median(), trial.workspace});
    return results;
  }

 private:
  Tensor& output() const {
    return problem_.direction == ConvDirection::forward         ? *args_.y
           : problem_.direction == ConvDirection::backward_data ? *args_.x
                                                                : *args_.filter;
  }

  double best() const {
    double least = std::numeric_limits<double>::infinity();
    for (const Trial& trial : trials_) least = std::min(least, trial.median());
    return least;
  }

  double time(const ConvSolver& solver, const ConvProblem& problem, ConvArgs args) const {
    Tensor workspace;
    if (const uint64_t bytes = solver.workspace_bytes(problem)) {
      workspace = Tensor({static_cast<int64_t>(bytes)}, DType::u8, backend_.device());
      args.workspace = &workspace;
    }
    backend_.synchronize();
    const auto start = std::chrono::steady_clock::now();
    solver.run(problem, args);
    backend_.synchronize();
    return 1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// By the first image alone.
  double estimate(const ConvSolver& solver) const {
    ConvProblem one = problem_;
    one.n = 1;
    if (!solver.applicable(one)) return 0;
    Tensor x, y;
    ConvArgs args = args_;
    x = args.x->slice(0, 0, 1), y = args.y->slice(0, 0, 1);
    args.x = &x, args.y = &y;
    return static_cast<double>(problem_.n) * time(solver, one, args);
  }

  /// A first run, whose result is judged: what a solver does not write stays NaN.
  void attempt(const ConvSolver& solver, const conv::Sample& sample) try {
    const uint64_t workspace = solver.workspace_bytes(problem_);
    if (problem_.n > 1 && !trials_.empty()) {
      const double expected = estimate(solver);
      if (expected > kHopeless * best()) {
        trials_.push_back({&solver, {expected}, workspace});
        return;
      }
    }
    fill(output(), std::numeric_limits<float>::quiet_NaN());
    const double milliseconds = time(solver, problem_, args_);
    if (sample.agrees(output()))
      trials_.push_back({&solver, {milliseconds}, workspace});
    else
      log_warning_once(message("conv2d", solver.name(), " computes wrong values for ",
                               problem_.str(), " on ", backend_.device().name(),
                               " and is not used"));
  } catch (const KernelError&) {  // run_convolution() says so
  } catch (const OutOfMemory&) {  // nor is there room for it in training
  }

  Backend& backend_;
  const ConvProblem problem_;
  ConvArgs args_;
  Tensor gradient_;
  std::vector<Trial> trials_;
};

}  // namespace

std::vector<TuningResult> measure_convolution(Backend& backend, const ConvProblem& problem,
                                              const ConvArgs& args) {
  return Measurement(backend, problem, args).run();
}

}  // namespace kaiseki
