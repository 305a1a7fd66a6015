// SPDX-License-Identifier: MIT
#include "dist/pool/nodes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "dist/pool/text.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kMostName = 200;
constexpr int kMostThreads = 1024;
constexpr size_t kMostReason = 2000;
constexpr double kLoss = 0.9;          // failures of a lost connection; one alone causes no rest
constexpr double kForgiven = 7.0 / 8;  // an accepted result multiplies recent failures by this
constexpr double kConfirmed = 0.99;  // a result that others sent too multiplies lost votes by this
constexpr double kDay = 86400;
constexpr double kForgetBlock = 3600;                      // seconds since its last failure
constexpr double kForgetIdle = kDay, kForget = 30 * kDay;  // seconds since a node was last seen

/// The seconds of rest after this number of recent failures.
double rest_after(double failures) {
  return failures < 1 ? 0 : std::min(std::exp2(failures - 1), kLongestRest);
}

/// Returns the /24 of an IPv4 address. An IPv6 source is already a /64.
std::string block_of(const std::string& source) {
  const bool is_ipv4 = source.find(':') == std::string::npos;
  return is_ipv4 ? source.substr(0, source.rfind('.')) : source;
}

}  // namespace

// The time of the last failure is not stored, so last_seen is used. A failing node therefore gets
// no ticket immediately after it reconnects.
PoolNode::PoolNode(NodeRow row) : row_(std::move(row)), failed_at_(row_.last_seen) {
  info_.name = row_.name, info_.device = row_.device;
}

NodeStatus PoolNode::status(size_t leases) const {
  return {row_.id,
          info_,
          connected_,
          static_cast<int>(leases),
          row_.accepted,
          row_.failed,
          row_.consecutive_valid,
          row_.last_seen,
          row_.expelled};
}

TicketId PoolNode::cursor(TaskId task) const {
  const auto found = cursors_.find(task);
  return found == cursors_.end() ? 0 : found->second;
}

void PoolNode::connect(const NodeInfo& info, double now) {
  row_.last_seen = now;
  asked_ = now;
  info_ = info;
  info_.threads = std::clamp(info.threads, 1, kMostThreads);
  info_.name = row_.name = clean_text(info.name, kMostName);
  info_.device = row_.device = clean_text(info.device, kMostName);
  speed_ = speed_of(info.gflops);
  connected_ = true;
}

void PoolNode::disconnect(double now) {
  connected_ = false;
  row_.last_seen = now;
}

void PoolNode::accepted(bool verified) {
  ++row_.accepted;
  row_.recent_failures *= kForgiven;
  row_.consecutive_valid += verified;
  if (verified) row_.outvoted *= kConfirmed;
}

double PoolNode::rests_until() const { return failed_at_ + rest_after(row_.recent_failures); }

void PoolNode::failed(double issued, double now) {
  ++row_.failed;
  if (issued < failed_at_) return;
  row_.recent_failures += 1;
  failed_at_ = now;
}

void PoolNode::lost(int64_t leases, double now) {
  row_.failed += leases;
  if (leases == 0) return;
  row_.recent_failures += kLoss;
  failed_at_ = now;
}

void PoolNode::outvoted(double now) {
  row_.consecutive_valid = 0;
  row_.outvoted += 1;
  failed(now, now);
}

void PoolNode::expel(const std::string& reason, double now) {
  row_.expelled = clean_text(reason, kMostReason);
  row_.consecutive_valid = 0;
  row_.last_seen = now;
}

void Nodes::load() {
  membership_changed();
  changed_.clear();
  established_.clear();
  for (auto entry = nodes_.begin(); entry != nodes_.end();) {
    PoolNode& node = entry->second;
    auto row = store_.node(entry->first);
    if (!node.connected_ || (!row && !node.committed_)) {
      entry = nodes_.erase(entry);
      continue;
    }
    if (row) node.row_ = *std::move(row);
    node.cursors_.clear();
    node.changed_ = false;
    index(node);
    ++entry;
  }
}

void Nodes::write() {
  for (const PoolNode* node : changed_) store_.put_node(node->row_);
}

void Nodes::committed(const std::function<bool(const NodeId&)>& holds_leases) {
  for (PoolNode* node : changed_) {
    node->changed_ = false;
    node->committed_ = true;
    if (!node->connected_ && !holds_leases(node->id())) nodes_.erase(NodeId(node->id()));
  }
  changed_.clear();
}

PoolNode& Nodes::add(const NodeId& id) {
  return nodes_.emplace(id, PoolNode(NodeRow{.id = id})).first->second;
}

PoolNode& Nodes::get(const NodeId& id, std::string_view operation) {
  if (auto found = nodes_.find(id); found != nodes_.end()) return found->second;
  auto row = store_.node(id);
  if (!row)
    throw Error(message(operation, "expected a node that has joined this pool, got '", id, "'"));
  return nodes_.emplace(id, PoolNode(*std::move(row))).first->second;
}

PoolNode& Nodes::find_or_add(const NodeId& id) {
  const bool known = nodes_.contains(id) || store_.node(id).has_value();
  return known ? get(id, "pool") : add(id);
}

const PoolNode* Nodes::find(const NodeId& id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

PoolNode* Nodes::find(const NodeId& id) {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

void Nodes::index(const PoolNode& node) {
  if (!node.connected() || node.is_newcomer())
    established_.erase(node.id());
  else if (established_.emplace(node.id(), &node).second)
    membership_changed();
}

void Nodes::change(PoolNode& node) {
  index(node);
  if (!std::exchange(node.changed_, true)) changed_.push_back(&node);
}

void Nodes::accepted(PoolNode& node, bool verified) {
  const bool was_proven = node.is_proven();
  node.accepted(verified);
  index(node);
  if (node.is_proven() != was_proven) membership_changed();
  if (const auto block = blocks_.find(block_of(node.source())); block != blocks_.end())
    block->second.failures *= kForgiven;
}

void Nodes::failed(PoolNode& node, double issued, double now) {
  node.failed(issued, now);
  failed_in_block(node, now);
}

void Nodes::lost(PoolNode& node, int64_t leases, double now) {
  node.lost(leases, now);
  if (leases > 0) failed_in_block(node, now, kLoss);
}

void Nodes::outvoted(PoolNode& node, double now) {
  if (node.is_proven()) membership_changed();
  node.outvoted(now);
}

void Nodes::failed_in_block(const PoolNode& node, double now, double failures) {
  if (node.source().empty()) return;
  Block& block = blocks_[block_of(node.source())];
  block.failures += failures;
  block.last = now;
}

double Nodes::rests_until(const PoolNode& node) const {
  const double own = node.rests_until();
  if (!node.is_newcomer() || node.source().empty()) return own;
  const auto block = blocks_.find(block_of(node.source()));
  if (block == blocks_.end()) return own;
  return std::max(own, block->second.last + rest_after(block->second.failures));
}

int64_t Nodes::collect(double now) {
  std::erase_if(blocks_, [&](const auto& block) { return block.second.last < now - kForgetBlock; });
  for (auto& [id, node] : nodes_) {
    if (!node.connected_ || node.row_.last_seen > now - kForgetIdle / 2) continue;
    node.row_.last_seen = now;
    store_.put_node(node.row_);
  }
  return store_.drop_nodes(now - kForgetIdle, now - kForget);
}

std::vector<NodeStatus> Nodes::away(double since, int limit) const {
  std::vector<NodeStatus> found;
  for (const NodeRow& row : store_.nodes(since, limit + static_cast<int>(nodes_.size())))
    if (static_cast<int>(found.size()) < limit && !nodes_.contains(row.id))
      found.push_back(PoolNode(row).status(0));
  return found;
}

}  // namespace kaiseki::dist
