// SPDX-License-Identifier: MIT
// GridGather: gives the scores of a grid to nodes and checks their results. It computes the scores
// that no node finishes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/grid_search.h"
#include "dist/train/channel.h"
#include "dist/train/trust.h"

namespace kaiseki::cli {

struct GridGatherOptions {
  double patience = 30;  // seconds without a result before this machine computes scores itself
  /// Called several times a second, also during a fit here. true: run() throws Error.
  std::function<bool()> stop = [] { return false; };
  dist::TrustOptions trust = {.checks = {.newcomer_checks = 1}};
};

struct GridCounts {
  int64_t by_nodes = 0, here = 0;  // scores
  int64_t checked = 0;             // scores of nodes that this machine computed again
  int64_t expelled = 0;            // nodes
};

/// Whether a node's score may be right if this machine has `own`. Other processors round in other
/// ways. The scores differ by at most a hundredth, or by one of the test samples.
bool scores_agree(double score, double own, int64_t test_samples);

class GridGather {
 public:
  /// The channel must outlive this.
  GridGather(dist::Channel& channel, std::string_view model,
             const std::vector<GridCandidate>& candidates, const GridData& data,
             GridGatherOptions options = {});
  ~GridGather();
  GridGather(const GridGather&) = delete;
  GridGather& operator=(const GridGather&) = delete;

  /// The scores of all candidates, with ranks. This machine has computed all scores of the best
  /// one. Reports its progress (ml/progress.h). Throws the errors of a fit here.
  std::vector<ml::SearchResult> run();
  const GridCounts& counts() const { return counts_; }

 private:
  struct Score {
    size_t candidate;
    int64_t fold;
    std::optional<double> value = {};
    std::string node = {};  // that sent it; empty: this machine
    bool own = false;       // this machine computed it
  };

  void submit_some();
  void collect();
  void take(const dist::TicketResult& result);
  void compute_here(uint64_t ticket);
  void close(uint64_t ticket);
  double compute(const Score& score);
  /// Computes a node's score here. Expels the node if it is wrong.
  bool check(Score& score, double given);
  void expel(const std::string& node, const dist::ExpulsionReason& reason);
  std::vector<ml::SearchResult> summary() const;
  int64_t done() const;
  void report();
  void throw_if_stopped() const;

  dist::Channel& channel_;
  const std::string model_;
  const std::vector<GridCandidate>& candidates_;
  const GridGatherOptions options_;
  GridScorer scorer_;
  const bool scale_;
  std::string data_;           // the hash of the samples
  uint64_t memory_bytes_ = 0;  // that a fit needs
  std::vector<Score> scores_;  // by fold, then by candidate
  std::set<size_t> waiting_;
  std::map<uint64_t, size_t> open_;  // the score by ticket
  uint64_t next_ticket_ = 1;
  dist::Trust trust_;
  GridCounts counts_;
  double start_;
};

}  // namespace kaiseki::cli
