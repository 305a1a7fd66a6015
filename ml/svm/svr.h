// SPDX-License-Identifier: MIT
// Support vector regression with kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/tensor.h"
#include "ml/linear/linear_function.h"
#include "ml/svm/kernel.h"
#include "ml/svm/kernel_expansion.h"

namespace kaiseki::ml {

class Archive;

struct SVROptions {
  double c = 1;          // C of scikit-learn: the limit of the dual coefficients. Above 0
  double epsilon = 0.1;  // smaller errors have no loss. 0 or more
  SvmKernel kernel = SvmKernel::rbf;
  int64_t degree = 3;              // only for poly
  Gamma gamma = GammaRule::scale;  // for poly and rbf
  double coef0 = 0;                // only for poly
  double tol = 1e-3;               // of the gradient
  double cache_size = 200;         // MiB of kernel rows
  int64_t max_iter = -1;           // -1: max(10^7, 100 n)
};

/// x is f32 [n, features], y is f32 [n]. Kernels and optimization are those of SVC. All throw
/// ShapeError, also for NaN and infinity. The result does not depend on the number of threads.
class SVR {
 public:
  explicit SVR(SVROptions options = {});

  void fit(const Tensor& x, const Tensor& y);
  Tensor predict(const Tensor& x) const;                 // f32 [n]
  double score(const Tensor& x, const Tensor& y) const;  // R^2

  /// The numbers of the support vectors among the samples. They ascend.
  const std::vector<int32_t>& support() const { return support_; }
  /// f32 [vectors, features]. Without an error above epsilon, there are no vectors.
  const Tensor& support_vectors() const { return expansion_.support_vectors(); }
  /// f32 [1, vectors]
  const Tensor& dual_coefficients() const { return dual_; }
  /// f32 [1]
  const Tensor& intercept() const { return intercept_; }
  /// f32 [1, features]. Only for the linear kernel, else undefined.
  const Tensor& coefficients() const { return linear_.coefficients(); }
  double gamma() const { return expansion_.gamma(); }
  int64_t iterations() const { return iterations_; }
  bool converged() const { return converged_; }
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  SVROptions options_;
  std::vector<int32_t> support_;
  KernelExpansion expansion_;
  LinearFunction linear_;  // only for the linear kernel
  Tensor dual_, intercept_;
  int64_t iterations_ = 0;
  bool converged_ = false;
};

}  // namespace kaiseki::ml
