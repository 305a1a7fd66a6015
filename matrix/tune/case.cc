// SPDX-License-Identifier: MIT
#include "matrix/tune/case.h"

#include <algorithm>
#include <atomic>

namespace kaiseki {
namespace {

std::atomic<uint64_t> lost_in_epoch{0};  // the last epoch with a failed write to the file

/// Removes the mark of an estimate from a measured candidate. The first measurement shows how much
/// slower this machine is than the one that made the estimates. The other estimates are scaled by
/// that factor.
void adapt_estimates(TuneCase& known, const TuningResult& measured) {
  const TuningResult* old = known.find(measured.candidate);
  if (!known.estimated.erase(measured.candidate) || known.scaled ||
      measured.outcome != TuningOutcome::timed)
    return;
  const double factor = measured.milliseconds / old->milliseconds;
  for (TuningResult& other : known.results)
    if (known.is_estimated(other.candidate)) other.milliseconds *= factor;
  known.scaled = true;
}

}  // namespace

const TuningResult* TuneCase::find(std::string_view candidate) const {
  const auto found = std::ranges::find(results, candidate, &TuningResult::candidate);
  return found == results.end() ? nullptr : &*found;
}

void learn(TuneCase& known, const std::vector<std::string_view>& candidates,
           const std::vector<TuningResult>& measured) {
  for (const TuningResult& result : measured) {
    adapt_estimates(known, result);
    std::erase_if(known.results,
                  [&](const TuningResult& old) { return old.candidate == result.candidate; });
    known.results.push_back(result);
  }
  std::ranges::stable_sort(known.results, {}, [&](const TuningResult& result) {
    return std::ranges::find(candidates, result.candidate) - candidates.begin();
  });
}

void merge_and_store(TuneCase& known, const TuningKey& key,
                     const std::vector<std::string_view>& candidates,
                     const std::vector<TuningResult>& measured) {
  if (measured.empty()) return;
  learn(known, candidates, measured);
  if (!remember_tuning(key, measured)) lost_in_epoch = tuning_clear_count();
  count_tuning_change();
}

bool all_results_stored() { return lost_in_epoch != tuning_clear_count(); }

}  // namespace kaiseki
