// SPDX-License-Identifier: MIT
#include "ml/online/passive_aggressive.h"

namespace kaiseki::ml {
namespace {

template <typename Options>
SgdProblem passive_aggressive_problem(const Options& options, SgdLoss loss, double epsilon) {
  SgdProblem problem = sgd_problem(options);
  problem.loss = loss;
  problem.epsilon = epsilon;
  problem.learning_rate = options.kind == PassiveAggressiveKind::pa1
                              ? LearningRate::passive_aggressive_1
                              : LearningRate::passive_aggressive_2;
  problem.c = options.c;
  problem.penalty = SgdPenalty::none;
  return problem;
}

}  // namespace

PassiveAggressiveClassifier::PassiveAggressiveClassifier(const PassiveAggressiveOptions& options)
    : OneVsRestSgd(passive_aggressive_problem(options, SgdLoss::hinge, 0), options.class_weight,
                   "PassiveAggressiveClassifier") {}

PassiveAggressiveRegressor::PassiveAggressiveRegressor(
    const PassiveAggressiveRegressorOptions& options)
    : SGDRegressor(
          passive_aggressive_problem(options, SgdLoss::epsilon_insensitive, options.epsilon),
          "PassiveAggressiveRegressor") {}

}  // namespace kaiseki::ml
