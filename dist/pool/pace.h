// SPDX-License-Identifier: MIT
// Pace: measures the cost of one unit of work of a task. The cost is scaled by the speed that a
// node reported, and by the speed that its results showed.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

namespace kaiseki::dist {

/// A node's speed. `gflops` is the number that the node reported, within limits. `factor` corrects
/// it: 2 if its tickets take twice as long as those of the others.
struct Speed {
  double gflops = 1;
  double factor = 1;
  bool measured = false;  // `factor` comes from results
};
/// The speed of a node that reported `gflops`, or nothing.
Speed speed_of(std::optional<double> gflops);

/// The costs of one task: the last measurements, their median and median absolute deviation (MAD).
class Pace {
 public:
  /// Adds a measurement: the seconds that a ticket of this work took. Updates the node's factor.
  void add(double seconds, double work, Speed& speed);
  /// The node had no result after `seconds`, so it takes at least as long. Corrects only its
  /// factor.
  void add_least(double seconds, double work, Speed& speed) const;
  bool measured() const { return count_ > 0; }
  /// typical(): the median of seconds. limit(): median + 3 MAD, but at least two medians: a few
  /// measurements may differ too little. Both are bounded for a node without results, because a
  /// peer can report any speed. Call them only if measured().
  double typical(double work, const Speed& speed) const;
  double limit(double work, const Speed& speed) const;
  /// The median of all nodes.
  double median_seconds(double work) const { return median_seconds_ * work; }
  /// Seconds after which a ticket is late, so that other nodes may compute it too. A slow node has
  /// no longer than the median of all nodes.
  double late(double work, const Speed& speed) const;

 private:
  static constexpr size_t kKept = 101;
  using Values = std::array<double, kKept>;
  /// The bound of a node without results, in median seconds of all nodes.
  double bounded(double seconds, double medians, const Speed& speed) const;

  Values last_{}, seconds_{};  // costs and seconds of one unit of work
  size_t count_ = 0;
  double median_ = 0, deviation_ = 0, median_seconds_ = 0;
};

}  // namespace kaiseki::dist
