// SPDX-License-Identifier: MIT
#include "ml/online/passive_aggressive.h"

namespace kaiseki::ml {
namespace {

SgdProblem passive_aggressive_problem(const PassiveAggressiveOptions& options) {
  SgdProblem problem;
  problem.loss = SgdLoss::hinge;
  problem.learning_rate = options.kind == PassiveAggressiveKind::pa1
                              ? LearningRate::passive_aggressive_1
                              : LearningRate::passive_aggressive_2;
  problem.c = options.c;
  problem.penalty = SgdPenalty::none;
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

PassiveAggressiveClassifier::PassiveAggressiveClassifier(const PassiveAggressiveOptions& options)
    : OneVsRestSgd(passive_aggressive_problem(options), options.class_weight,
                   "PassiveAggressiveClassifier") {}

}  // namespace kaiseki::ml
