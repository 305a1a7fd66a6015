// SPDX-License-Identifier: MIT
#include "ml/online/perceptron.h"

namespace kaiseki::ml {
namespace {

SgdProblem perceptron_problem(const PerceptronOptions& options) {
  SgdProblem problem;
  problem.loss = SgdLoss::perceptron;
  problem.learning_rate = LearningRate::constant;
  problem.penalty = options.penalty;
  problem.alpha = options.alpha;
  problem.l1_ratio = options.l1_ratio;
  problem.eta0 = options.eta0;
  problem.fit_intercept = options.fit_intercept;
  problem.shuffle = options.shuffle;
  problem.average = options.average;
  problem.max_iter = options.max_iter;
  problem.tol = options.tol;
  problem.n_iter_no_change = options.n_iter_no_change;
  problem.seed = options.seed;
  return problem;
}

}  // namespace

Perceptron::Perceptron(const PerceptronOptions& options)
    : OneVsRestSgd(perceptron_problem(options), options.class_weight, "Perceptron") {}

}  // namespace kaiseki::ml
