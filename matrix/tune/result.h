// SPDX-License-Identifier: MIT
// TuningResult: the result of measuring one candidate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kaiseki {

enum class TuningOutcome : uint8_t {
  timed,
  wrong,    // the candidate computes wrong values
  refused,  // the driver refuses the candidate's kernels
};

struct TuningResult {
  std::string candidate{};
  double milliseconds = 0;  // valid if the candidate was timed
  uint64_t workspace = 0;   // bytes
  TuningOutcome outcome = TuningOutcome::timed;
  bool operator==(const TuningResult&) const = default;
};

/// "wrong"
std::string_view outcome_name(TuningOutcome outcome);
/// Candidates that fail come after all timed candidates.
bool is_faster(const TuningResult& a, const TuningResult& b);

}  // namespace kaiseki
