// SPDX-License-Identifier: MIT
// Measures the solvers of a convolution on the tensors of the call.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "matrix/backend/backend.h"
#include "matrix/conv/solver.h"
#include "matrix/tune/trials.h"

namespace kaiseki {

/// Measures one convolution in steps. First, a solver's values are compared with plain loops, on
/// one image and on all images. If the tensors cannot show an error, random inputs are used. Then
/// the solver is timed (Trials). A solver that is much too slow on one image is not run on all
/// images. Its time is then an estimate. The workspace is the device's workspace or unused memory.
class ConvMeasurement {
 public:
  /// Measures the solvers in `candidates`.
  ConvMeasurement(Backend& backend, const ConvProblem& problem,
                  const std::vector<const ConvSolver*>& candidates);

  bool done() const { return !next(); }
  /// Takes tensors as ConvSolver::run() does. Returns whether the output is computed, which is the
  /// case after a timed run. After a check of values, the output is undefined, but a filter's
  /// gradient is unchanged.
  bool step(const ConvArgs& args);
  /// Runs all steps. A filter's gradient stays unchanged; other outputs are undefined.
  void run(const ConvArgs& args);

  /// The results and workspaces of the solvers that had room to be measured.
  std::vector<TuningResult> results() const;

 private:
  struct Candidate {
    const ConvSolver* solver;
    uint64_t workspace;
    bool judged = false;
  };

  std::optional<size_t> next() const;
  double time(const ConvSolver& solver, const ConvProblem& problem, ConvArgs args) const;
  bool is_right(const ConvSolver& solver, const ConvProblem& problem, ConvArgs args) const;
  void judge(size_t candidate, const ConvArgs& args);
  std::optional<bool> check_on_one_image(size_t candidate, const ConvArgs& args);
  bool is_hopeless(double estimate, uint64_t workspace) const;

  Backend& backend_;
  const ConvProblem problem_;
  std::vector<Candidate> candidates_;
  Trials trials_;
  std::optional<double> likely_;  // best time in milliseconds, estimated from one image
};

}  // namespace kaiseki
