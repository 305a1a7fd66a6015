// SPDX-License-Identifier: MIT
// Measures the solvers of a convolution on the tensors that it is about to run on.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "matrix/backend.h"
#include "matrix/tuning_file.h"

namespace kaiseki {

/// Milliseconds of a solver that computes wrong values, and of one whose kernels the driver
/// refuses.
constexpr double kWrongMilliseconds = 1e300, kRefusedMilliseconds = 1e200;

/// The measuring of one convolution, in steps. A solver is judged first (its values are compared
/// with plain loops, on one image and on all; of random inputs where the tensors do not tell), then
/// timed by three warm runs, or seven that are short; one that needs over 1.5 times the best is not
/// run again, unless it is the first of the candidates; one that is hopeless on a single image is
/// not run on all, and its time is an estimate. The workspace is the device's, else memory that
/// nobody uses.
class ConvMeasurement {
 public:
  /// Of the solvers in `candidates`.
  ConvMeasurement(Backend& backend, const ConvProblem& problem,
                  const std::vector<const ConvSolver*>& candidates);

  bool done() const { return !next(); }
  /// Tensors as for ConvSolver::run(). Gives whether the output is computed: true after a timed
  /// run; after a judgement its values are of no use, but for a filter's gradient, which is as
  /// before.
  bool step(const ConvArgs& args);
  /// All steps at once. A filter's gradient stays as it is, other outputs are of no use.
  void run(const ConvArgs& args);

  /// Milliseconds (median) and workspace of each that there was room to measure.
  std::vector<TuningResult> results() const;

 private:
  struct Trial {
    const ConvSolver* solver;
    uint64_t workspace;
    bool judged = false, no_room = false;
    std::optional<double> verdict{};  // instead of runs
    std::vector<double> runs{};       // milliseconds
    double milliseconds() const;
  };

  const Trial* next() const;
  double best() const;
  double time(const ConvSolver& solver, const ConvProblem& problem, ConvArgs args) const;
  bool right(const ConvSolver& solver, const ConvProblem& problem, ConvArgs args) const;
  void judge(Trial& trial, const ConvArgs& args);

  Backend& backend_;
  const ConvProblem problem_;
  std::vector<Trial> trials_;
  double likely_ = std::numeric_limits<double>::infinity();  // the best, by one image
};

}  // namespace kaiseki
