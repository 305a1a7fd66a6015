// SPDX-License-Identifier: MIT
#include "matrix/tune/result.h"

namespace kaiseki {

std::string_view outcome_name(TuningOutcome outcome) {
  constexpr std::string_view kNames[] = {"timed", "wrong", "refused"};
  return kNames[static_cast<int>(outcome)];
}

bool is_faster(const TuningResult& a, const TuningResult& b) {
  if (a.outcome != b.outcome) return a.outcome < b.outcome;
  return a.milliseconds < b.milliseconds;
}

}  // namespace kaiseki
