// SPDX-License-Identifier: MIT
#include "dist/pool/pace.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/median.h"

namespace kaiseki::dist {
namespace {

constexpr double kLearn = 0.3;       // weight of a measurement in a node's factor, after the first
constexpr double kMostFactor = 1e8;  // bound of the factor; no reported speed is off by more
constexpr double kMostOff = 10;  // times slower or faster than others, for a node without results
constexpr double kLeastSeconds = 1e-6;
constexpr double kLate = 1.25;  // medians after which a ticket is late, at least

}  // namespace

Speed speed_of(std::optional<double> gflops) {
  return {gflops && *gflops > 0 ? std::clamp(*gflops, 0.01, 1e6) : 1.0};
}

void Pace::add(double seconds, double work, Speed& speed) {
  const double one = std::max(seconds, kLeastSeconds) / work, cost = one * speed.gflops;
  const double off = count_ > 0 ? cost / (median_ * speed.factor) : 1;
  // The speed that a node reported counts until its first result.
  const double learned = speed.factor * std::pow(off, speed.measured ? kLearn : 1);
  seconds_[count_ % kKept] = one;
  last_[count_++ % kKept] = cost / speed.factor;
  speed.factor = std::clamp(learned, 1 / kMostFactor, kMostFactor);
  speed.measured = true;
  const auto known = [&](const Values& values) {
    return std::vector<double>(values.begin(), values.begin() + std::min(count_, kKept));
  };
  median_seconds_ = median(known(seconds_));
  std::vector<double> last = known(last_);
  median_ = median(last);
  for (double& value : last) value = std::abs(value - median_);
  deviation_ = median(std::move(last));
}

void Pace::add_least(double seconds, double work, Speed& speed) const {
  const double least = seconds / work * speed.gflops / median_;
  speed.factor = std::max(speed.factor, std::min(least, kMostFactor));
}

double Pace::bounded(double seconds, double medians, const Speed& speed) const {
  if (speed.measured) return seconds;
  const double median = medians * median_seconds_;
  return std::clamp(seconds, median / kMostOff, median * kMostOff);
}

double Pace::typical(double work, const Speed& speed) const {
  return bounded(median_ * work * speed.factor / speed.gflops, work, speed);
}

double Pace::late(double work, const Speed& speed) const {
  const double cost = std::max(median_ + 3 * deviation_, kLate * median_);
  return cost * work * std::min(speed.factor / speed.gflops, median_seconds_ / median_);
}

double Pace::limit(double work, const Speed& speed) const {
  const double cost = std::max(median_ + 3 * deviation_, 2 * median_);
  return bounded(cost * work * speed.factor / speed.gflops, 2 * work, speed);
}

}  // namespace kaiseki::dist
