// SPDX-License-Identifier: MIT
// The update rules of all optimizers as one table: an optimizer is added by a row of it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace kaiseki::nn {

/// `statements` is an expression for update() (matrix/ops/elementwise.h) on w (the parameter) and
/// the slots. G stands for the gradient with clipping and L2 decay. Scalars: lr, m (momentum),
/// a = alpha, a1 = 1 - alpha, b1, b2, c1 = 1 - b1, c2 = 1 - b2, h = lr / (1 - b1^t),
/// k = 1 / sqrt(1 - b2^t), eps, keep = 1 - lr * weight_decay (1 where nothing decays).
struct OptimizerRule {
  std::string_view name;
  struct Slot {
    std::string_view symbol, name;  // in the statements, in checkpoints
  };
  std::vector<Slot> slots;
  std::string_view statements;
  std::vector<std::string_view> scalars;
  /// The rule where the velocity v is m*v + gradient already; empty for rules that read the
  /// gradient besides.
  std::string_view accumulated;
  double learning_rate, epsilon, weight_decay;
  bool decoupled_decay;
};

std::span<const OptimizerRule> optimizer_rules();
/// Throws Error that lists the known names.
const OptimizerRule& optimizer_rule(std::string_view name);

}  // namespace kaiseki::nn
