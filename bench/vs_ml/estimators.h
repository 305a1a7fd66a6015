// SPDX-License-Identifier: MIT
// The estimators that vs_ml runs. A new one needs an entry in estimators.cc and one in run.py, with
// the same name and options.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::bench {

struct Data {
  Tensor x, y;  // f32 [n, features] and i32 [n], on the device
};

struct Outcome {
  int64_t iterations = 0;  // 0 if there are none
  /// The quality, such as the accuracy or the inertia. Both sides must agree. It is not timed.
  std::function<double()> quality;
};

struct Estimator {
  std::string name;
  /// Runs the fit. For some estimators, runs the prediction instead. The run is timed.
  std::function<Outcome(const Data& data)> run;
};

const std::vector<Estimator>& estimators();

}  // namespace kaiseki::bench
