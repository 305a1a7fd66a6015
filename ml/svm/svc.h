// SPDX-License-Identifier: MIT
// Support vector classification with kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/tensor.h"
#include "ml/linear/classes.h"
#include "ml/linear/linear_function.h"
#include "ml/svm/kernel.h"
#include "ml/svm/kernel_expansion.h"

namespace kaiseki::ml {

class Archive;

/// The result of decision_function() for more than two classes.
enum class DecisionShape : uint8_t {
  ovr,  // f32 [n, classes]: votes for each class, plus a part below 1/2 from the values
  ovo,  // f32 [n, classes * (classes - 1) / 2]: one value for each pair of classes
};

struct SVCOptions {
  double c = 1;  // C of scikit-learn: the limit of the dual coefficients. Above 0
  SvmKernel kernel = SvmKernel::rbf;
  int64_t degree = 3;              // only for poly
  Gamma gamma = GammaRule::scale;  // for poly and rbf
  double coef0 = 0;                // only for poly
  double tol = 1e-3;               // of the gradient
  double cache_size = 200;         // MiB of kernel rows
  ClassWeights class_weight = {};  // multiply c. Above 0
  int64_t max_iter = -1;           // for each pair of classes. -1: max(10^7, 100 n)
  DecisionShape decision_function_shape = DecisionShape::ovr;
};

/// One machine for each pair of classes. x is f32 [n, features], y is i32 [n]. Kernels are computed
/// in blocks by matrix products in f32, on the device of x. The optimization runs in double on the
/// CPU. All throw ShapeError, also for NaN and infinity, and for less than two classes. There is no
/// random choice, and the result does not depend on the number of threads.
class SVC {
 public:
  explicit SVC(SVCOptions options = {});

  void fit(const Tensor& x, const Tensor& y);
  /// The labels i32 [n]: the class with the most votes. If votes are equal, the smallest class.
  Tensor predict(const Tensor& x) const;
  /// f32 [n] for two classes: above 0 for the larger label. Else see DecisionShape. The pairs are
  /// (0, 1), (0, 2), ... (1, 2), ...; a value above 0 is a vote for the first class.
  Tensor decision_function(const Tensor& x) const;
  /// The accuracy_score() of predict(x).
  double score(const Tensor& x, const Tensor& y) const;

  /// Ascending.
  const std::vector<int32_t>& classes() const { return classes_; }
  /// The numbers of the support vectors among the samples: class by class, ascending in each.
  const std::vector<int32_t>& support() const { return support_; }
  /// The number of support vectors of each class.
  const std::vector<int64_t>& n_support() const { return n_support_; }
  /// f32 [vectors, features]
  const Tensor& support_vectors() const { return expansion_.support_vectors(); }
  /// f32 [classes - 1, vectors]. A vector of class i has the coefficients of the pairs of i with
  /// the other classes, in ascending order.
  const Tensor& dual_coefficients() const { return dual_; }
  /// f32 [pairs]
  const Tensor& intercept() const { return intercept_; }
  /// f32 [pairs, features]. Only for the linear kernel, else undefined.
  const Tensor& coefficients() const { return linear_.coefficients(); }
  double gamma() const { return expansion_.gamma(); }
  /// The sum over the pairs.
  int64_t iterations() const { return iterations_; }
  /// Whether all pairs reached the tolerance.
  bool converged() const { return converged_; }
  /// Writes or reads the fitted state, for files. Reading throws ParseError.
  void archive(Archive& archive);

 private:
  Tensor pair_decisions(const Tensor& x) const;

  SVCOptions options_;
  std::vector<int32_t> classes_, support_;
  std::vector<int64_t> n_support_;
  KernelExpansion expansion_;
  LinearFunction linear_;  // only for the linear kernel
  Tensor dual_, intercept_;
  int64_t iterations_ = 0;
  bool converged_ = false;
};

}  // namespace kaiseki::ml
