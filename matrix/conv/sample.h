// SPDX-License-Identifier: MIT
// ResultSample: some values of a convolution's result, computed by plain loops in double. The tuner
// checks solvers against them.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// One value of a convolution's result, without bias and activation, and the sum of the absolute
/// values of its products.
struct ExactSum {
  double sum = 0, size = 0;
};
ExactSum exact_value(const ConvProblem& problem, const ConvArgs& args, int64_t place);

class ResultSample {
 public:
  /// Computes x * filter, without bias and activation, or the gradients, at up to 32 positions.
  ResultSample(const ConvProblem& problem, const ConvArgs& args);

  /// Returns false if every sum is NaN or too small to show an error.
  bool can_show_errors() const;
  /// Returns whether `result` matches the sample to 2e-5 of the largest sum of absolute values.
  /// That is twice the error of Winograd's F(4x4, 3x3). Positions with NaN or a value too large for
  /// a float are skipped. Returns true if can_show_errors() is false.
  bool matches(const Tensor& result) const;

 private:
  double largest() const;

  struct SampledValue {
    int64_t place;
    double sum, size;
  };
  std::vector<SampledValue> values_;
};

}  // namespace kaiseki::conv
