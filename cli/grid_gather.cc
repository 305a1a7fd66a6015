// SPDX-License-Identifier: MIT
#include "cli/grid_gather.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/sha256.h"
#include "cli/grid_ticket.h"
#include "cli/text.h"
#include "ml/progress.h"

namespace kaiseki::cli {
namespace {

constexpr double kSlice = 0.2;     // seconds between two looks at `stop`
constexpr size_t kMostOpen = 500;  // tickets; a coordinator limits the size of a request
constexpr uint64_t kMostMemory = uint64_t{1} << 40;  // that a coordinator accepts
constexpr uint64_t kMostResult = 1000;               // bytes

}  // namespace

bool scores_agree(double score, double own, int64_t test_samples) {
  if (!std::isfinite(score) || !std::isfinite(own))
    return std::isfinite(score) == std::isfinite(own);
  constexpr double kRounding = 1e-9;
  const double least = std::max(0.01, 1 / static_cast<double>(test_samples));
  return std::abs(score - own) <= least * std::max(1.0, std::abs(own)) + kRounding;
}

GridGather::GridGather(dist::Channel& channel, std::string_view model,
                       const std::vector<GridCandidate>& candidates, const GridData& data,
                       GridGatherOptions options)
    : channel_(channel),
      model_(model),
      candidates_(candidates),
      options_(std::move(options)),
      scorer_(data),
      scale_(data.scale),
      trust_(options_.trust),
      start_(steady_seconds()) {
  const GridSamples samples{data.x.to(Device::cpu()), data.y.to(Device::cpu())};
  auto bytes = std::make_shared<const ByteVector>(encode_grid_samples(samples));
  data_ = sha256(*bytes);
  channel_.put_blob(dist::BlobKind::samples, data_, std::move(bytes));
  for (const GridCandidate& candidate : candidates_)
    memory_bytes_ = std::max(memory_bytes_, memory_for_fit(model_, candidate.settings, samples));
  memory_bytes_ = std::min(memory_bytes_, kMostMemory);
  for (int64_t fold = 0; fold < scorer_.folds(); ++fold)
    for (size_t c = 0; c < candidates_.size(); ++c) {
      waiting_.insert(scores_.size());
      scores_.push_back({c, fold});
    }
}

GridGather::~GridGather() {
  try {
    for (const auto& [ticket, score] : open_) channel_.close(ticket);
    channel_.drop_blob(data_);
  } catch (...) {  // The channel may be broken.
  }
}

std::vector<ml::SearchResult> GridGather::run() {
  for (;;) {
    collect();
    const auto best = static_cast<size_t>(ml::best_result(summary()));
    bool is_own = true;
    for (Score& score : scores_) {
      if (score.candidate != best || score.own) continue;
      is_own = false;
      if (!check(score, *score.value)) break;  // the best one may be another
    }
    if (is_own) return summary();
  }
}

void GridGather::collect() {
  double since = steady_seconds();
  while (!open_.empty() || !waiting_.empty()) {
    submit_some();
    report();
    const bool overdue = steady_seconds() - since >= options_.patience;
    const std::optional<dist::TicketResult> result = channel_.receive(overdue ? 0 : kSlice);
    throw_if_stopped();
    if (result) {
      take(*result);
      since = steady_seconds();
    } else if (channel_.is_paused()) {
      since = steady_seconds();
    } else if (overdue || channel_.nodes().empty()) {
      compute_here(open_.rbegin()->first);  // nodes probably finish the first tickets first
    }
  }
}

void GridGather::submit_some() {
  while (!waiting_.empty() && open_.size() < kMostOpen) {
    const size_t index = waiting_.extract(waiting_.begin()).value();
    const Score& score = scores_[index];
    const ByteVector ticket = encode_grid_ticket({.data = data_,
                                                  .model = model_,
                                                  .settings = candidates_[score.candidate].settings,
                                                  .fold = score.fold,
                                                  .folds = scorer_.folds(),
                                                  .scale = scale_});
    open_[next_ticket_] = index;
    channel_.submit(next_ticket_++,
                    {.ticket = ticket, .max_result = kMostResult, .memory_bytes = memory_bytes_});
  }
}

void GridGather::close(uint64_t ticket) {
  open_.erase(ticket);
  channel_.close(ticket);
}

void GridGather::take(const dist::TicketResult& result) {
  const auto at = open_.find(result.ticket);
  if (at == open_.end() || trust_.expelled(result.node)) return;
  if (result.dead) return compute_here(result.ticket);
  Score& score = scores_[at->second];
  double given = 0;
  try {
    given = decode_score(result.bytes);
  } catch (const Error& error) {
    return expel(result.node, {error.what(), dist::ExpulsionKind::wrong_form});
  }
  const bool checks = trust_.draws_check(result.node, 1.0);
  close(result.ticket);
  score.value = given;
  score.node = result.node;
  ++counts_.by_nodes;
  if (checks) check(score, given);
}

void GridGather::compute_here(uint64_t ticket) {
  Score& score = scores_[open_.at(ticket)];
  score.value = compute(score);
  score.own = true;
  ++counts_.here;
  close(ticket);
}

double GridGather::compute(const Score& score) {
  const ml::ProgressScope scope([this](std::string_view, int64_t, int64_t) { throw_if_stopped(); });
  return scorer_.score(model_, candidates_[score.candidate].settings, score.fold);
}

bool GridGather::check(Score& score, double given) {
  score.value = compute(score);
  score.own = true;
  ++counts_.checked;
  if (scores_agree(given, *score.value, scorer_.test_samples(score.fold))) {
    trust_.agreed(score.node, 0);
    return true;
  }
  --counts_.by_nodes;
  ++counts_.here;
  expel(std::exchange(score.node, {}),
        {"its score is not the one that the author computes", dist::ExpulsionKind::wrong_value});
  return false;
}

/// Its other scores are computed again.
void GridGather::expel(const std::string& node, const dist::ExpulsionReason& reason) {
  trust_.expel(node, 0);
  log_warning(message("pool", "node ", node, " is expelled: ", reason.text()));
  ++counts_.expelled;
  channel_.expel(node, reason);
  for (size_t i = 0; i < scores_.size(); ++i) {
    if (scores_[i].node != node || scores_[i].own) continue;
    scores_[i].value.reset();
    scores_[i].node.clear();
    waiting_.insert(i);
    --counts_.by_nodes;
  }
}

std::vector<ml::SearchResult> GridGather::summary() const {
  std::vector<ml::SearchResult> results;
  for (const GridCandidate& candidate : candidates_)
    results.emplace_back().params = candidate.params;
  for (const Score& score : scores_)
    results[score.candidate].split_test_scores.push_back(*score.value);
  ml::summarize(results);
  return results;
}

int64_t GridGather::done() const {
  return std::ssize(scores_) - std::ssize(open_) - std::ssize(waiting_);
}

void GridGather::report() {
  const size_t nodes = channel_.nodes().size();
  const double seconds = std::max(steady_seconds() - start_, 1e-3);
  ml::report_progress("fits, " + std::to_string(nodes) + (nodes == 1 ? " node, " : " nodes, ") +
                          format_number("%.3g", static_cast<double>(done()) / seconds) + " fits/s",
                      done(), std::ssize(scores_));
}

void GridGather::throw_if_stopped() const {
  if (!options_.stop()) return;
  throw Error(message("fit", "interrupted after ", done(), " of ", scores_.size(), " fits"));
}

}  // namespace kaiseki::cli
