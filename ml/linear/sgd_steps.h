// SPDX-License-Identifier: MIT
// Stochastic gradient descent for one linear function, sample after sample, in double. Also the
// passive-aggressive steps, and the perceptron, which is a loss of it.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace kaiseki::ml {

enum class SgdLoss : uint8_t {
  hinge,                        // max(0, 1 - y p): the linear support vector machine
  squared_hinge,                // max(0, 1 - y p)^2
  log,                          // log(1 + exp(-y p)): logistic regression
  modified_huber,               // squared_hinge for y p >= -1, else -4 y p
  perceptron,                   // max(0, -y p)
  huber,                        // (y - p)^2 / 2 up to |y - p| = epsilon, linear beyond
  squared_error,                // (y - p)^2 / 2
  epsilon_insensitive,          // max(0, |y - p| - epsilon): linear support vector regression
  squared_epsilon_insensitive,  // max(0, |y - p| - epsilon)^2
};

enum class SgdPenalty : uint8_t { none, l2, l1, elasticnet };

/// The step size of sample number t = 1, 2, ...
enum class LearningRate : uint8_t {
  constant,              // eta0
  optimal,               // 1 / (alpha (t0 + t - 1)), with t0 from alpha and the loss (Bottou)
  invscaling,            // eta0 / t^power_t
  adaptive,              // eta0, divided by 5 when the loss stops to fall
  passive_aggressive_1,  // min(c, loss / |x|^2)
  passive_aggressive_2,  // loss / (|x|^2 + 1 / (2 c))
};

struct SgdProblem {
  SgdLoss loss = SgdLoss::hinge;
  double epsilon = 0.1;
  SgdPenalty penalty = SgdPenalty::l2;
  double alpha = 1e-4, l1_ratio = 0.15;
  LearningRate learning_rate = LearningRate::optimal;
  double eta0 = 0, power_t = 0.5, c = 1;
  bool fit_intercept = true, shuffle = true, average = false;
  int64_t max_iter = 1000;
  double tol = 1e-3;  // -infinity: never stop early
  int64_t n_iter_no_change = 5;
  uint64_t seed = 0;
};

/// A problem with the settings that the options of all models with these steps have.
template <typename Options>
SgdProblem sgd_problem(const Options& options) {
  SgdProblem problem;
  problem.fit_intercept = options.fit_intercept;
  problem.shuffle = options.shuffle;
  problem.average = options.average;
  problem.max_iter = options.max_iter;
  problem.tol = options.tol;
  problem.n_iter_no_change = options.n_iter_no_change;
  problem.seed = options.seed;
  return problem;
}

/// Also with the settings of the penalty, and eta0.
template <typename Options>
SgdProblem penalized_sgd_problem(const Options& options) {
  SgdProblem problem = sgd_problem(options);
  problem.penalty = options.penalty;
  problem.alpha = options.alpha;
  problem.l1_ratio = options.l1_ratio;
  problem.eta0 = options.eta0;
  return problem;
}

/// Throws ShapeError for values out of range.
void check_problem(const SgdProblem& problem, std::string_view name);

/// A linear function during training.
struct SgdState {
  std::vector<double> w, average_w, l1_used;  // [features] each
  double b = 0, average_b = 0, l1_total = 0;
  double t = 1;           // the number of the next sample
  uint64_t position = 0;  // of the random numbers
};

/// The samples of one function. For a classification, targets are -1 and 1, with their weights.
struct SgdSamples {
  const float* x = nullptr;
  int64_t count = 0, features = 0;
  const double* y = nullptr;
  double negative_weight = 1, positive_weight = 1;
};

/// Runs at most `epochs` passes, and stops early as `tol` says. Returns their number. `stream`
/// selects the random numbers. Throws Error if the weights become infinite.
int64_t run_sgd(const SgdSamples& samples, const SgdProblem& problem, int64_t epochs,
                uint64_t stream, SgdState& state);

}  // namespace kaiseki::ml
