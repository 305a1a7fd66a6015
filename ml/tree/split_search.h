// SPDX-License-Identifier: MIT
// The best split of a node by one feature. The search is exact: it scores every split between two
// different values of the feature.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "ml/tree/rank_keys.h"
#include "ml/tree/tree_samples.h"

namespace kaiseki::ml {

struct FeatureSplit {
  double score = -std::numeric_limits<double>::infinity();
  uint32_t last_left = 0, first_right = 0;  // ranks
  bool constant = false;                    // all values are equal
  bool found = false;
};

/// Keeps its memory between searches.
template <class Scan>
class SplitSearch {
 public:
  using Node = typename Scan::Node;

  /// node: of the samples. Both sides have `least` samples or more.
  template <class Rank>
  FeatureSplit operator()(const Rank* ranks, std::span<const TreeSample> samples, const Node& node,
                          size_t least) {
    keys_.resize(std::max(keys_.size(), samples.size()));
    uint32_t low = ranks[samples[0].row], high = low;
    for (size_t i = 0; i < samples.size(); ++i) {
      const uint32_t rank = ranks[samples[i].row];
      low = std::min(low, rank);
      high = std::max(high, rank);
      keys_[i] = rank_key(rank, node.payload(samples[i], i));
    }
    if (low == high) return {.constant = true};
    scan_.begin(node);
    const size_t bins = size_t{high} - low + 1, cells = bins * (node.width() + 2);
    // Sorting costs about as much for a sample as clearing and reading 16 cells.
    if (cells <= std::min(kMostCells, 16 * samples.size()))
      return count(samples.size(), node, low, bins, least);
    return sort(samples.size(), node, low, std::bit_width(high - low), least);
  }

 private:
  static constexpr size_t kMostCells = 1 << 16;

  FeatureSplit sort(size_t n, const Node& node, uint32_t low, int bits, size_t least) {
    scratch_.resize(std::max(scratch_.size(), n));
    sort_rank_keys(keys_.data(), scratch_.data(), n, low, bits);
    FeatureSplit best;
    scan_.add(node, static_cast<uint32_t>(keys_[0]));
    for (size_t i = 1; i < n; ++i) {
      const uint32_t last = rank_of(keys_[i - 1]), next = rank_of(keys_[i]);
      if (last != next && i >= least && n - i >= least) consider(last, next, best);
      scan_.add(node, static_cast<uint32_t>(keys_[i]));
    }
    return best;
  }

  FeatureSplit count(size_t n, const Node& node, uint32_t low, size_t bins, size_t least) {
    samples_of_bins_.assign(bins, 0);
    scan_.clear_bins(node, bins);
    for (size_t i = 0; i < n; ++i) {
      const size_t bin = rank_of(keys_[i]) - low;
      ++samples_of_bins_[bin];
      scan_.add_to_bin(node, bin, static_cast<uint32_t>(keys_[i]));
    }
    FeatureSplit best;
    size_t left = samples_of_bins_[0];
    scan_.add_bin(node, 0);
    for (size_t bin = 1, last = 0; bin < bins; ++bin) {
      if (samples_of_bins_[bin] == 0) continue;
      if (left >= least && n - left >= least)
        consider(low + static_cast<uint32_t>(last), low + static_cast<uint32_t>(bin), best);
      scan_.add_bin(node, bin);
      left += samples_of_bins_[bin];
      last = bin;
    }
    return best;
  }

  void consider(uint32_t last, uint32_t next, FeatureSplit& best) const {
    const double score = scan_.score();
    if (!(score > best.score)) return;
    best = {.score = score, .last_left = last, .first_right = next, .found = true};
  }

  Scan scan_;
  std::vector<uint64_t> keys_, scratch_;
  std::vector<uint32_t> samples_of_bins_;
};

}  // namespace kaiseki::ml
