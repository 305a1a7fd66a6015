// SPDX-License-Identifier: MIT
// The update rules of all optimizers, one row each.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace kaiseki::nn {

/// `statements` is an expression for update() (matrix/ops/elementwise.h) on w (the parameter) and
/// the slots. G is the gradient after clipping and L2 decay. The scalars are lr, m (momentum), a =
/// alpha, a1 = 1 - alpha, b1, b2, c1 = 1 - b1, c2 = 1 - b2, h = lr / (1 - b1^t), k = 1 / sqrt(1 -
/// b2^t), eps and keep. keep is 1 - lr * weight_decay (1 for parameters without decay).
struct OptimizerRule {
  std::string_view name;
  struct Slot {
    std::string_view symbol, name;  // in the statements, in checkpoints
  };
  std::vector<Slot> slots;
  std::string_view statements;
  std::vector<std::string_view> scalars;
  /// The rule if the velocity v is already m*v + gradient. Empty for rules that also read the
  /// gradient.
  std::string_view accumulated;
  double learning_rate, epsilon, weight_decay;
  bool decoupled_decay;
};

std::span<const OptimizerRule> optimizer_rules();
/// Throws Error that lists the known names.
const OptimizerRule& optimizer_rule(std::string_view name);

}  // namespace kaiseki::nn
