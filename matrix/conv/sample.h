// SPDX-License-Identifier: MIT
// Some values of a convolution's result, computed by plain loops in double: by them a solver is
// judged before it is trusted.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/conv/solver.h"

namespace kaiseki::conv {

/// One value of a convolution's result, without bias and activation, and the sum of its products'
/// sizes.
struct ExactSum {
  double sum = 0, size = 0;
};
ExactSum exact_value(const ConvProblem& problem, const ConvArgs& args, int64_t place);

class Sample {
 public:
  /// Values of x * filter, without bias and activation, and of the gradients, at up to 32 places.
  Sample(const ConvProblem& problem, const ConvArgs& args);

  /// False where every sum is too small to judge by, or no number.
  bool judges() const;
  /// Whether `result` has them, but for 2e-5 of the largest sum of sizes: what Winograd's F(4x4,
  /// 3x3) needs twice over. Places whose value is no number, or too large for one, are passed over,
  /// and all agrees where it does not judge.
  bool agrees(const Tensor& result) const;

 private:
  double largest() const;

  struct Value {
    int64_t place;
    double sum, size;
  };
  std::vector<Value> values_;
};

}  // namespace kaiseki::conv
