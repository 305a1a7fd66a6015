// SPDX-License-Identifier: MIT
// The kernels of make_ml_svm_cases.py, for the options of SVC and of SVR.
#pragma once

#include <string>
#include <vector>

#include "ml/svm/kernel.h"
#include "tests/support/ml_cases.h"

namespace kaiseki::test {

template <class Options>
Options kernel_case(const std::string& name) {
  Options options;
  options.tol = 1e-6;
  if (name == "auto") {
    options.gamma = ml::GammaRule::automatic;
    options.c = 10;
  } else if (name == "number") {
    options.gamma = 0.05;
    options.c = 0.5;
  } else if (name == "linear") {
    options.kernel = ml::SvmKernel::linear;
  } else if (name == "poly") {
    options.kernel = ml::SvmKernel::poly;
    options.coef0 = 1;
  } else if (name == "poly2") {
    options.kernel = ml::SvmKernel::poly;
    options.degree = 2;
    options.c = 2;
  }
  return options;
}

inline const std::vector<std::string>& kernel_names() {
  static const std::vector<std::string> names{"rbf", "auto", "number", "linear", "poly", "poly2"};
  return names;
}

/// The samples whose results the script keeps.
inline Tensor some_samples(const Tensor& x) {
  return x(Slice(0, x.dim(0), std::max<int64_t>(1, x.dim(0) / 15))).contiguous();
}

}  // namespace kaiseki::test
