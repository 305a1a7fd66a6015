// SPDX-License-Identifier: MIT
// The function x W^T + b, which all linear models learn.
#pragma once

#include <string_view>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::ml {

class Archive;

/// The numbers of a linear function, in double.
struct LinearWeights {
  int64_t outputs = 1, features = 0;
  std::vector<double> coefficients;  // [outputs, features]
  std::vector<double> intercept;     // [outputs]
};

class LinearFunction {
 public:
  LinearFunction() = default;
  /// If `flat` is set, there is one output, coefficients() is [features] and apply() gives [n].
  /// Throws Error if f32 cannot hold the weights.
  LinearFunction(const LinearWeights& weights, bool flat, Device device);

  /// f32 [n] or [n, outputs] for x [n, features], on the device of x. Throws ShapeError, also
  /// before a fit and for NaN and infinity.
  Tensor apply(const Tensor& x, std::string_view name) const;

  bool defined() const { return coefficients_.defined(); }
  int64_t features() const { return coefficients_.dim(-1); }
  const Tensor& coefficients() const { return coefficients_; }
  const Tensor& intercept() const { return intercept_; }
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  Tensor coefficients_, intercept_;  // [features] or [outputs, features]; [outputs]
};

/// The same elements with contiguous columns, as a matrix product needs them.
Tensor with_contiguous_columns(const Tensor& x);

}  // namespace kaiseki::ml
