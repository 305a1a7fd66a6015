// SPDX-License-Identifier: MIT
// TuneCase: the known results of one case, such as a convolution on a device. TuneTable holds the
// cases of one operation.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/tune/file.h"
#include "matrix/tune/policy.h"

namespace kaiseki {

struct TuneCase {
  std::vector<TuningResult> results{};  // in the order of the candidates
  /// Names of results that were measured on another machine.
  std::set<std::string, std::less<>> estimated{};
  bool scaled = false;  // the estimates are scaled to this machine
  /// Candidates that were measured or found no room, with the workspace available at that time.
  /// Without a value, a candidate is not tried again in this process.
  std::map<std::string, std::optional<uint64_t>, std::less<>> tried{};

  const TuningResult* find(std::string_view candidate) const;
  bool is_estimated(std::string_view candidate) const { return estimated.contains(candidate); }
};

/// Replaces known results by measured ones, in the order of `candidates`.
void learn(TuneCase& known, const std::vector<std::string_view>& candidates,
           const std::vector<TuningResult>& measured);
/// The same, and writes the results to the tuning file.
void merge_and_store(TuneCase& known, const TuningKey& key,
                     const std::vector<std::string_view>& candidates,
                     const std::vector<TuningResult>& measured);
/// Returns whether all measurements of this process were written to the tuning file.
bool all_results_stored();

/// The cases of one operation. The caller must hold `mutex`.
template <typename Key>
class TuneTable {
 public:
  /// Returns the case. On first use, `make` gives its initial content.
  TuneCase& at(const Key& key, const std::function<TuneCase()>& make) {
    if (epoch_ != tuning_clear_count()) cases_.clear(), epoch_ = tuning_clear_count();
    const auto [at, is_new] = cases_.try_emplace(key);
    if (is_new) at->second = make();
    return at->second;
  }

  std::mutex mutex;

 private:
  std::map<Key, TuneCase> cases_;
  uint64_t epoch_ = 0;
};

}  // namespace kaiseki
