// SPDX-License-Identifier: MIT
// How long tickets take: measured per task as cost of one unit of work, scaled by how fast the node
// said that it is and by how fast it turned out to be.
#pragma once

#include <array>
#include <cstddef>

namespace kaiseki::dist {

/// A node's speed. `gflops` is what it measured itself (not above all belief), `factor` corrects
/// it: 2 when its tickets take twice as long as those of the others.
struct Speed {
  double gflops = 1;
  double factor = 1;
  bool measured = false;  // a result has shown it
};
Speed speed_of(double gflops);

/// Costs of one task: the last measurements, their median and median absolute deviation.
class Pace {
 public:
  /// Seconds that a ticket of this work took on this node, whose factor learns from it.
  void add(double seconds, double work, Speed& speed);
  bool measured() const { return count_ > 0; }
  /// Seconds that a ticket typically takes, and after which it should be back: median + 3 MAD, but
  /// at least two medians, since a few measurements can be too much alike. Who has shown nothing
  /// yet is not believed to be ever so slow, or its tickets would wait for it. Only when
  /// measured().
  double typical(double work, const Speed& speed) const;
  double limit(double work, const Speed& speed) const;
  /// Seconds after which a ticket is late: others may try it too. It is unusual, not hopeless.
  double late(double work, const Speed& speed) const;

 private:
  static constexpr size_t kKept = 101;
  using Values = std::array<double, kKept>;
  double at_most(double work, const Speed& speed) const;

  Values last_{}, seconds_{};  // costs, and seconds of one unit of work
  size_t count_ = 0;
  double median_ = 0, deviation_ = 0, median_seconds_ = 0;
};

}  // namespace kaiseki::dist
