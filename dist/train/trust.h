// SPDX-License-Identifier: MIT
// Trust: selects the results that the server computes again. Records the steps in which a node's
// results counted without such a check. Also records the deviations of its checked results.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "dist/trust/check_policy.h"
#include "matrix/random.h"

namespace kaiseki::dist {

struct TrustOptions {
  CheckPolicy checks = {};
  /// The most steps that are trained again after a node is expelled. 0: none.
  int64_t undo_steps = 64;
  /// The seed that selects the checks. Empty: the system's randomness, so that nodes cannot predict
  /// the checks.
  std::optional<uint64_t> seed = {};
};

class Trust {
 public:
  static constexpr size_t kDriftChecks = 10;
  /// Relative to a tensor's norm. Honest devices deviate by far less:
  /// docs/benchmarks/pool-deviation.md.
  static constexpr double kMostDrift = 0.003;

  explicit Trust(const TrustOptions& options);

  /// Draws whether the server computes the next result of this node again before it counts.
  /// `ratio`: NormGate::ratio() of the result, the factor of CheckPolicy::checks(). So one large
  /// error and many small errors with the same sum are caught with the same probability.
  bool draws_check(const std::string& node, std::optional<double> ratio);
  /// If `all`, draws_check() is true for every node until the next call.
  void check_all(bool all) { check_all_ = all; }
  /// A checked result agreed, with this Comparison::deviation.
  void agreed(const std::string& node, double deviation);
  /// Whether the last kDriftChecks checked results of the node deviate by more than kMostDrift on
  /// average.
  bool drifts(const std::string& node) const;
  /// A result counts in this training step without a check.
  void counted(const std::string& node, int64_t step) { nodes_[node].unchecked.insert(step); }

  /// The node sent a wrong result. Its results of `step` do not count and are computed again. If
  /// the node was proven, other nodes may lie too. All nodes must then be proven again, with twice
  /// as many results. The number halves after each 8 * `undo_steps` steps without such a node.
  /// Between two discoveries, wrong results that count have a bounded sum of ratios. Its mean is at
  /// most 1 / check_share, even if an undo cannot reach them.
  void expel(const std::string& node, int64_t step);
  bool expelled(const std::string& node) const;

  /// The first step in which a result of an expelled node counted without a check.
  std::optional<int64_t> tainted_since() const;
  /// Whether any result of the recorded steps counted without a check.
  bool has_unchecked() const;
  /// The steps from `first` to `last` are trained again. All nodes must be proven again, as after
  /// expel().
  void undo(int64_t first, int64_t last);
  /// Forgets the steps before `first`, as they can no longer be undone.
  void forget_before(int64_t first);

 private:
  struct NodeTrust {
    int agreed = 0;
    bool expelled = false;
    std::set<int64_t> unchecked = {};    // steps with an unchecked result that can be undone
    std::deque<double> deviations = {};  // of the last checked results
  };

  void prove_again(int64_t step);

  TrustOptions options_;
  Random random_;
  std::map<std::string, NodeTrust> nodes_;
  CheckPolicy policy_;      // now; a node may need more results than in the options
  int64_t calm_since_ = 0;  // the step in which policy_ changed
  bool check_all_ = false;
};

}  // namespace kaiseki::dist
