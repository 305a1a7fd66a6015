// SPDX-License-Identifier: MIT
// Compares results that depend on random numbers: those of several seeds with scikit-learn's.
//
// All these tests have one rule. The means of 20 seeds differ by at most one standard error of
// their difference. The rule applies to a mean over the cases of the test. Chance alone exceeds one
// error in a third of all cases, so a single case may differ by three. Results that should be small
// or large may be better by any number of errors.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace kaiseki::test {

constexpr int kSeeds = 20;
constexpr double kMostErrors = 3;  // of a single case

struct SeedSample {
  double mean, error;  // the standard error of the mean
};

inline SeedSample seed_sample(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / (n - 1) / n)};
}

/// The standard error of a difference of two means.
inline double standard_error(const SeedSample& a, const SeedSample& b) {
  return std::sqrt(a.error * a.error + b.error * b.error);
}

/// A comparison of results: ours, theirs, and the part of a mean that f32 may change.
using SeedErrors = double (*)(const std::vector<double>&, const std::vector<double>&, double);

/// The distance of the means in standard errors.
inline double errors_between(const std::vector<double>& ours, const std::vector<double>& theirs,
                             double rounding) {
  const SeedSample a = seed_sample(ours), b = seed_sample(theirs);
  return std::abs(a.mean - b.mean) / (standard_error(a, b) + rounding * std::abs(b.mean) + 1e-9);
}
/// How far our mean is above theirs, or 0.
inline double errors_above(const std::vector<double>& ours, const std::vector<double>& theirs,
                           double rounding) {
  if (seed_sample(ours).mean <= seed_sample(theirs).mean) return 0;
  return errors_between(ours, theirs, rounding);
}
/// The same for results that should be large.
inline double errors_below(const std::vector<double>& ours, const std::vector<double>& theirs,
                           double rounding) {
  std::vector<double> losses, other;
  for (const double value : ours) losses.push_back(-value);
  for (const double value : theirs) other.push_back(-value);
  return errors_above(losses, other, rounding);
}

}  // namespace kaiseki::test
