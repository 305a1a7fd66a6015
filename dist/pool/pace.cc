// SPDX-License-Identifier: MIT
#include "dist/pool/pace.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace kaiseki::dist {
namespace {

constexpr double kLearn = 0.3;  // how much one measurement moves a node's factor, but the first
constexpr double kMostFactor = 1e8;  // and how far all of them may: as far as claims can be off
constexpr double kMostSlow = 10;     // times the typical seconds, for a node without results
constexpr double kLeastSeconds = 1e-6;
constexpr double kLate = 1.25;  // medians, at least

double median(std::span<double> values) {
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Speed speed_of(double gflops) { return {gflops > 0 ? std::clamp(gflops, 0.01, 1e6) : 1.0}; }

void Pace::add(double seconds, double work, Speed& speed) {
  const double one = std::max(seconds, kLeastSeconds) / work, cost = one * speed.gflops;
  const double off = count_ > 0 ? cost / (median_ * speed.factor) : 1;
  // What a node said of itself counts until its first result.
  const double learnt = speed.factor * std::pow(off, speed.measured ? kLearn : 1);
  seconds_[count_ % kKept] = one;
  last_[count_++ % kKept] = cost / speed.factor;
  speed.factor = std::clamp(learnt, 1 / kMostFactor, kMostFactor);
  speed.measured = true;
  const size_t known_values = std::min(count_, kKept);
  Values values = seconds_;
  const std::span<double> known(values.data(), known_values);
  median_seconds_ = median(known);
  values = last_;
  median_ = median(known);
  for (double& value : known) value = std::abs(value - median_);
  deviation_ = median(known);
}

double Pace::at_most(double work, const Speed& speed) const {
  return speed.measured ? HUGE_VAL : kMostSlow * median_seconds_ * work;
}

double Pace::typical(double work, const Speed& speed) const {
  return std::min(median_ * work * speed.factor / speed.gflops, at_most(work, speed));
}

double Pace::late(double work, const Speed& speed) const {
  const double cost = std::max(median_ + 3 * deviation_, kLate * median_);
  return std::min(cost * work * speed.factor / speed.gflops, at_most(work, speed));
}

double Pace::limit(double work, const Speed& speed) const {
  const double cost = std::max(median_ + 3 * deviation_, 2 * median_);
  return std::min(cost * work * speed.factor / speed.gflops, 2 * at_most(work, speed));
}

}  // namespace kaiseki::dist
