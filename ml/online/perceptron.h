// SPDX-License-Identifier: MIT
// The perceptron (Rosenblatt, 1958): SGDClassifier with the loss `perceptron` and a constant rate.
#pragma once

#include "ml/linear/sgd.h"

namespace kaiseki::ml {

struct PerceptronOptions {
  SgdPenalty penalty = SgdPenalty::none;
  double alpha = 1e-4, l1_ratio = 0.15;
  bool fit_intercept = true;
  int64_t max_iter = 1000;
  double tol = 1e-3;
  bool shuffle = true;
  double eta0 = 1;
  int64_t n_iter_no_change = 5;
  ClassWeights class_weight = {};
  bool average = false;
  uint64_t seed = 0;
};

class Perceptron : public OneVsRestSgd {
 public:
  explicit Perceptron(const PerceptronOptions& options = {});
};

}  // namespace kaiseki::ml
