// SPDX-License-Identifier: MIT
#include "ml/online/perceptron.h"

namespace kaiseki::ml {
namespace {

SgdProblem perceptron_problem(const PerceptronOptions& options) {
  SgdProblem problem = penalized_sgd_problem(options);
  problem.loss = SgdLoss::perceptron;
  problem.learning_rate = LearningRate::constant;
  return problem;
}

}  // namespace

Perceptron::Perceptron(const PerceptronOptions& options)
    : OneVsRestSgd(perceptron_problem(options), options.class_weight, "Perceptron") {}

}  // namespace kaiseki::ml
