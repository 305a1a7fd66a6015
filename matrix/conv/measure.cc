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
constexpr double kLost = 1.5;  // times the best: not run again
// Not run on all images: by one, this many times the best and this long.
constexpr double kHopeless = 8.0, kHopelessMilliseconds = 1000;

struct Trial {
  const ConvSolver* solver;
  uint64_t workspace;
  std::vector<double> milliseconds{};
  double estimate = 0;  // of a hopeless one

  double median() const {
    if (milliseconds.empty()) return estimate;
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
    for (const ConvSolver* solver : backend_.conv_solvers())
      if (solver->applicable(problem_)) attempt(*solver);
    for (int round = 0; round < kRuns; ++round)
      for (Trial& trial : trials_)
        if (trial.estimate == 0 && (round == 0 || trial.median() <= kLost * best()))
          trial.milliseconds.push_back(time(*trial.solver, problem_, args_));
    for (const Trial& trial : trials_)
      results_.push_back({std::string(trial.solver->name()), trial.median(), trial.workspace});
    std::ranges::sort(results_, {}, [&](const TuningResult& result) {
      return std::ranges::find(backend_.conv_solvers(), result.candidate, &ConvSolver::name) -
             backend_.conv_solvers().begin();
    });
    return std::move(results_);
  }

 private:
  Tensor& output(const ConvArgs& args) const {
    return problem_.direction == ConvDirection::forward         ? *args.y
           : problem_.direction == ConvDirection::backward_data ? *args.x
                                                                : *args.filter;
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

  /// What a solver does not write stays NaN.
  bool right(const ConvSolver& solver, const ConvProblem& problem, const ConvArgs& args) const {
    fill(output(args), std::numeric_limits<float>::quiet_NaN());
    time(solver, problem, args);
    if (conv::Sample(problem, args).agrees(output(args))) return true;
    log_warning_once(message("conv2d", solver.name(), " computes wrong values for ", problem_.str(),
                             " on ", backend_.device().name(), " and is not used"));
    return false;
  }

  /// Judges a solver, first on one image: that run builds kernels and starts threads, and is not
  /// timed; neither is the first on all.
  void attempt(const ConvSolver& solver) try {
    Trial trial{&solver, solver.workspace_bytes(problem_)};
    ConvProblem one = problem_;
    one.n = 1;
    Tensor x = args_.x->slice(0, 0, 1), y = args_.y->slice(0, 0, 1);
    ConvArgs args = args_;
    args.x = &x, args.y = &y;
    bool serves = !solver.applicable(one) || right(solver, one, args);
    if (serves && problem_.n > 1 && solver.applicable(one)) {
      const double all = static_cast<double>(problem_.n) * time(solver, one, args);
      if (all > kHopelessMilliseconds && all > kHopeless * likely_) trial.estimate = all;
      likely_ = std::min(likely_, all);
    }
    if (serves && trial.estimate == 0 && one != problem_) serves = right(solver, problem_, args_);
    if (serves)
      trials_.push_back(trial);
    else
      results_.push_back({std::string(solver.name()), kWrongMilliseconds, trial.workspace});
  } catch (const KernelError&) {  // run_convolution() says so
    results_.push_back({std::string(solver.name()), kRefusedMilliseconds, 0});
  }

  Backend& backend_;
  const ConvProblem problem_;
  ConvArgs args_;
  Tensor gradient_;
  double likely_ = std::numeric_limits<double>::infinity();  // the best, by one image
  std::vector<Trial> trials_;
  std::vector<TuningResult> results_;
};

}  // namespace

std::vector<TuningResult> measure_convolution(Backend& backend, const ConvProblem& problem,
                                              const ConvArgs& args) try {
  return Measurement(backend, problem, args).run();
} catch (const OutOfMemory&) {
  return {};
}

}  // namespace kaiseki
