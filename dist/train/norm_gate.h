// SPDX-License-Identifier: MIT
// NormGate: compares the norms of a result with the norms of earlier results.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kaiseki::dist {

/// The norm of one tensor of a result.
struct ResultNorm {
  std::string name;
  double norm = 0;  // of the tensor, or of its difference from the previous value
  bool gradient = false;
};

class NormGate {
 public:
  /// Divides each norm by the upper quartile of the last 64 norms of its name. Returns the largest
  /// quotient. For gradients, each quartile counts as at least a ten-thousandth of the largest
  /// quartile: smaller gradients are rounding. Returns nothing if a name has fewer than 8 norms.
  /// The median would be too low: late in training most samples are classified well. A third of
  /// LeNet's tickets then have more than three times the median norm (docs/pool-training.md,
  /// Trust).
  std::optional<double> ratio(const std::vector<ResultNorm>& norms) const;
  /// The upper quartile of the last 64 norms of a name. Empty if there are fewer than 8.
  std::optional<double> usual(const std::string& name) const;
  /// Adds the norms of a result that counts.
  void add(const std::vector<ResultNorm>& norms);
  /// Forgets all norms.
  void clear() { last_.clear(); }

 private:
  std::map<std::string, std::deque<double>> last_;  // norms by the tensor's name
};

}  // namespace kaiseki::dist
