// SPDX-License-Identifier: MIT
// CheckPolicy: decides which results of a node are computed again. The pool's adaptive verification
// and training over the pool both use it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace kaiseki::dist {

struct CheckPolicy {
  /// The least probability of a check for a proven node. 0: no checks, not even in the last steps
  /// of an epoch of training.
  double check_share = 0.02;
  /// Results that must agree before a node is proven. Until then all its results are checked.
  int64_t newcomer_checks = 10;

  bool is_proven(int64_t agreed) const { return agreed >= newcomer_checks; }
  /// Whether the next result of a node is checked after `agreed` of its results agreed. `drawn`: a
  /// random number from 0 to 1. For a proven node, the probability of a check is
  ///   max(check_share, 1 / agreed) * max(1, factor).
  /// If the factor is unknown, the result is checked.
  bool checks(int64_t agreed, double drawn, std::optional<double> factor = 1.0) const {
    if (!is_proven(agreed)) return true;
    if (check_share <= 0) return false;
    if (!factor) return true;
    const double each = agreed > 0 ? 1.0 / static_cast<double>(agreed) : 0.0;
    return drawn < std::max(check_share, each) * std::max(1.0, *factor);
  }
};

}  // namespace kaiseki::dist
