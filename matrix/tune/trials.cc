// SPDX-License-Identifier: MIT
#include "matrix/tune/trials.h"

#include <algorithm>

#include "base/median.h"

namespace kaiseki {
namespace {

constexpr size_t kRuns = 3, kQuickRuns = 7;
// milliseconds; a disturbance of the machine lasts longer than several runs under this time.
constexpr double kQuick = 10;

}  // namespace

std::optional<double> Trials::CandidateTrial::milliseconds() const {
  if (failed) return {};
  if (estimate) return estimate;
  if (runs.empty()) return {};
  return median(runs);
}

std::optional<double> Trials::best() const {
  std::optional<double> least;
  for (const CandidateTrial& trial : all_)
    if (const auto time = trial.milliseconds()) least = std::min(least.value_or(*time), *time);
  return least;
}

std::optional<size_t> Trials::next() const {
  const std::optional<double> least = best();
  const size_t rounds = least && *least < kQuick ? kQuickRuns : kRuns;
  for (size_t round = 0; round < rounds; ++round)
    for (size_t i = 0; i < all_.size(); ++i) {
      const CandidateTrial& trial = all_[i];
      if (trial.is_over() || trial.runs.size() != round) continue;
      if (round == 0 || i == 0 || *trial.milliseconds() <= kLost * *least) return i;
    }
  return {};
}

std::optional<TuningResult> Trials::result(size_t candidate) const {
  const CandidateTrial& trial = all_[candidate];
  if (trial.left_out) return {};
  if (trial.failed) return TuningResult{.outcome = *trial.failed};
  if (const auto time = trial.milliseconds()) return TuningResult{.milliseconds = *time};
  return {};
}

}  // namespace kaiseki
