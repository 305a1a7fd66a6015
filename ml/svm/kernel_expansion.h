// SPDX-License-Identifier: MIT
// Sums of kernels with support vectors, which all support vector machines learn.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "ml/linear/linear_function.h"
#include "ml/svm/kernel.h"

namespace kaiseki::ml {

class Archive;

class KernelExpansion {
 public:
  KernelExpansion() = default;
  KernelExpansion(KernelFunction function, Tensor support_vectors);

  /// Requires a fit, and x [n, features] without NaN and infinity. Throws ShapeError.
  void check(const Tensor& x, std::string_view name) const;
  /// Calls body(kernels, begin) for blocks of rows of x: f32 [rows, vectors], on the device of x.
  /// Without a support vector, there are no calls.
  void for_each_block(const Tensor& x,
                      const std::function<void(const Tensor& kernels, int64_t begin)>& body) const;

  bool defined() const { return support_vectors_.defined(); }
  const Tensor& support_vectors() const { return support_vectors_; }
  bool is_linear() const { return function_.kind == SvmKernel::linear; }
  double gamma() const { return function_.gamma; }
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  KernelFunction function_;
  Tensor support_vectors_;  // f32 [vectors, features]
};

/// A coefficient of the support vector in this row.
struct VectorCoefficient {
  int64_t row;
  double value;
};
/// The functions that a linear kernel learns, from vectors f32 [vectors, features] and the
/// coefficients of each output. Removes the effect of the shift from the intercepts.
LinearWeights linear_weights(const KernelFunction& function, const Tensor& vectors,
                             const std::vector<std::vector<VectorCoefficient>>& coefficients,
                             const std::vector<double>& intercepts);

}  // namespace kaiseki::ml
