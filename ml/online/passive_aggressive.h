// SPDX-License-Identifier: MIT
// Passive-aggressive learning (Crammer, Dekel, Keshet, Shalev-Shwartz, Singer, "Online
// passive-aggressive algorithms", 2006). w changes by the smallest step that makes the margin of
// the sample 1, or its error epsilon.
#pragma once

#include "ml/linear/sgd.h"

namespace kaiseki::ml {

enum class PassiveAggressiveKind : uint8_t {
  pa1,  // the step is at most c: min(c, loss / |x|^2)
  pa2,  // a smaller c makes each step smaller: loss / (|x|^2 + 1 / (2 c))
};

struct PassiveAggressiveOptions {
  double c = 1;  // above 0
  PassiveAggressiveKind kind = PassiveAggressiveKind::pa1;
  bool fit_intercept = true;
  int64_t max_iter = 1000;
  double tol = 1e-3;
  int64_t n_iter_no_change = 5;
  bool shuffle = true;
  uint64_t seed = 0;
  ClassWeights class_weight = {};
  bool average = false;
};

class PassiveAggressiveClassifier : public OneVsRestSgd {
 public:
  explicit PassiveAggressiveClassifier(const PassiveAggressiveOptions& options = {});
};

struct PassiveAggressiveRegressorOptions {
  double c = 1;          // above 0
  double epsilon = 0.1;  // an error up to this is no loss
  PassiveAggressiveKind kind = PassiveAggressiveKind::pa1;
  bool fit_intercept = true;
  int64_t max_iter = 1000;
  double tol = 1e-3;
  int64_t n_iter_no_change = 5;
  bool shuffle = true;
  uint64_t seed = 0;
  bool average = false;
};

class PassiveAggressiveRegressor : public SGDRegressor {
 public:
  explicit PassiveAggressiveRegressor(const PassiveAggressiveRegressorOptions& options = {});
};

}  // namespace kaiseki::ml
