// SPDX-License-Identifier: MIT
// The best split of a node by one feature. The search is exact: it scores every split between two
// different values of the feature.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "ml/tree/tree_samples.h"
#include "ml/tree/value_keys.h"

namespace kaiseki::ml {

struct FeatureSplit {
  double score = -std::numeric_limits<double>::infinity();
  uint32_t last_left = 0, first_right = 0;  // ordered() values
  bool constant = false;                    // all values are equal
  bool found = false;
};

/// Keeps its memory between searches.
template <class Scan>
class SplitSearch {
 public:
  using Node = typename Scan::Node;

  /// values[i]: the value of samples[i], a float or a code. node: of the samples. Both sides have
  /// `least` samples or more.
  template <class Value>
  FeatureSplit operator()(std::span<const Value> values, std::span<const TreeSample> samples,
                          const Node& node, size_t least) {
    Value low = values[0], high = low;
    for (const Value value : values) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
    if (low == high) return {.constant = true};
    scan_.begin(node);
    if constexpr (std::is_same_v<Value, uint8_t>) {
      const size_t bins = size_t{high} - low + 1u;
      // Clearing and reading a bin costs about as much as sorting (classes + 2) / 16 samples.
      if (bins * (node.width() + 2) <= 16 * samples.size())
        return count(values, samples, node, low, bins, least);
    }
    const auto payload = [&](size_t i) { return node.payload(samples[i], i); };
    return scan_sorted(sorter_.sort(values, low, high, payload), node, least);
  }

 private:
  FeatureSplit scan_sorted(std::span<const uint64_t> keys, const Node& node, size_t least) {
    FeatureSplit best;
    scan_.add(node, payload_of(keys[0]));
    const size_t n = keys.size();
    for (size_t i = 1; i < n; ++i) {
      const uint32_t last = order_of(keys[i - 1]), next = order_of(keys[i]);
      if (last != next && i >= least && n - i >= least) consider(last, next, best);
      scan_.add(node, payload_of(keys[i]));
    }
    return best;
  }

  FeatureSplit count(std::span<const uint8_t> values, std::span<const TreeSample> samples,
                     const Node& node, uint32_t low, size_t bins, size_t least) {
    samples_of_bins_.assign(bins, 0);
    scan_.clear_bins(node, bins);
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t bin = values[i] - low;
      ++samples_of_bins_[bin];
      scan_.add_to_bin(node, bin, node.payload(samples[i], i));
    }
    FeatureSplit best;
    size_t left = samples_of_bins_[0];
    scan_.add_bin(node, 0);
    uint32_t last = low;
    for (size_t bin = 1; bin < bins; ++bin) {
      if (samples_of_bins_[bin] == 0) continue;
      const uint32_t next = low + static_cast<uint32_t>(bin);
      if (left >= least && values.size() - left >= least) consider(last, next, best);
      scan_.add_bin(node, bin);
      left += samples_of_bins_[bin];
      last = next;
    }
    return best;
  }

  void consider(uint32_t last, uint32_t next, FeatureSplit& best) const {
    if (!scan_.may_exceed(best.score)) return;
    const double score = scan_.score();
    if (!(score > best.score)) return;
    best = {.score = score, .last_left = last, .first_right = next, .found = true};
  }

  Scan scan_;
  KeySorter sorter_;
  std::vector<uint32_t> samples_of_bins_;
};

}  // namespace kaiseki::ml
