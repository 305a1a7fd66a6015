// SPDX-License-Identifier: MIT
// Trials: chooses the candidate to time next, and collects the times. Candidates are timed in turn,
// so that a disturbance of the machine affects all of them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "matrix/tune/result.h"

namespace kaiseki {

/// Times each candidate three times, or seven times if the best needs under 10 ms. A candidate that
/// needs over 1.5 times the best is not timed again. The first candidate is an exception: it runs
/// without measurements, and a disturbance in one run must not exclude it.
class Trials {
 public:
  /// A candidate over this many times the best is not timed again.
  static constexpr double kLost = 1.5;

  explicit Trials(size_t candidates) : all_(candidates) {}

  /// Returns the candidate to time now, or no value if all are done.
  std::optional<size_t> next() const;
  void add_time(size_t candidate, double milliseconds) {
    all_[candidate].runs.push_back(milliseconds);
  }
  /// These end the timing of a candidate, with an estimate or because it fails.
  void set_estimate(size_t candidate, double milliseconds) {
    all_[candidate].estimate = milliseconds;
  }
  void fail(size_t candidate, TuningOutcome outcome) { all_[candidate].failed = outcome; }
  /// Excludes the candidate, for example because there is no room for it. It has no result.
  void leave_out(size_t candidate) { all_[candidate].left_out = true; }

  /// The result of a candidate that was timed, estimated, or failed.
  std::optional<TuningResult> result(size_t candidate) const;

 private:
  struct CandidateTrial {
    std::vector<double> runs{};  // milliseconds
    std::optional<double> estimate{};
    std::optional<TuningOutcome> failed{};
    bool left_out = false;
    bool is_over() const { return estimate || failed || left_out; }
    /// The median of the runs, or the estimate.
    std::optional<double> milliseconds() const;
  };
  std::optional<double> best() const;

  std::vector<CandidateTrial> all_;
};

}  // namespace kaiseki
