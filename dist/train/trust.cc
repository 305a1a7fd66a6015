// SPDX-License-Identifier: MIT
#include "dist/train/trust.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace kaiseki::dist {
namespace {

constexpr int64_t kMostProof = 64;  // times newcomer_checks
constexpr int64_t kCalm = 8;        // times undo_steps

uint64_t secret_seed() {
  std::random_device system;
  return uint64_t{system()} << 32 | system();
}

}  // namespace

Trust::Trust(const TrustOptions& options)
    : options_(options),
      random_(options.seed ? *options.seed : secret_seed()),
      policy_(options.checks) {}

bool Trust::draws_check(const std::string& node, std::optional<double> ratio) {
  const int64_t agreed = nodes_[node].agreed;
  const double drawn = random_.uniform();  // drawn in any case, so that a seed gives the same draws
  return check_all_ || policy_.checks(agreed, drawn, ratio);
}

void Trust::agreed(const std::string& node, double deviation) {
  NodeTrust& of = nodes_[node];
  ++of.agreed;
  of.deviations.push_back(deviation);
  if (of.deviations.size() > kDriftChecks) of.deviations.pop_front();
}

bool Trust::drifts(const std::string& node) const {
  const auto found = nodes_.find(node);
  if (found == nodes_.end() || found->second.deviations.size() < kDriftChecks) return false;
  const std::deque<double>& last = found->second.deviations;
  return std::accumulate(last.begin(), last.end(), 0.0) > kMostDrift * double{kDriftChecks};
}

void Trust::expel(const std::string& name, int64_t step) {
  NodeTrust& node = nodes_[name];
  node.expelled = true;
  node.unchecked.erase(step);
  // Otherwise the caller calls undo().
  if (policy_.is_proven(node.agreed) && node.unchecked.empty()) prove_again(step);
}

bool Trust::expelled(const std::string& node) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && found->second.expelled;
}

std::optional<int64_t> Trust::tainted_since() const {
  std::optional<int64_t> first;
  for (const auto& [name, node] : nodes_)
    if (node.expelled && !node.unchecked.empty())
      first = std::min(first.value_or(*node.unchecked.begin()), *node.unchecked.begin());
  return first;
}

bool Trust::has_unchecked() const {
  return std::ranges::any_of(nodes_, [](const auto& one) { return !one.second.unchecked.empty(); });
}

void Trust::undo(int64_t first, int64_t last) {
  for (auto& [name, node] : nodes_) {
    node.unchecked.erase(node.unchecked.lower_bound(first), node.unchecked.end());
    if (node.expelled) node.unchecked.clear();  // older results remain in the weights
  }
  prove_again(last);
}

void Trust::prove_again(int64_t step) {
  for (auto& [name, node] : nodes_) node.agreed = 0;
  int64_t& proof = policy_.newcomer_checks;
  proof = std::min(2 * proof, kMostProof * options_.checks.newcomer_checks);
  calm_since_ = step;
}

void Trust::forget_before(int64_t first) {
  for (auto& [name, node] : nodes_)
    node.unchecked.erase(node.unchecked.begin(), node.unchecked.lower_bound(first));
  std::erase_if(nodes_, [](const auto& one) {
    const NodeTrust& node = one.second;
    return node.agreed == 0 && !node.expelled && node.unchecked.empty();
  });
  int64_t& proof = policy_.newcomer_checks;
  const int64_t least = options_.checks.newcomer_checks;
  if (proof <= least || first - calm_since_ < kCalm * options_.undo_steps) return;
  proof = std::max(proof / 2, least);
  calm_since_ = first;
}

}  // namespace kaiseki::dist
