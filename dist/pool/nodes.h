// SPDX-License-Identifier: MIT
// PoolNode: one node and its record. Nodes: the nodes that are connected or being changed. All
// other nodes are in the store only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dist/pool/pace.h"
#include "dist/pool/rules.h"
#include "dist/pool/store.h"

namespace kaiseki::dist {

class PoolNode {
 public:
  /// A node that is not connected.
  explicit PoolNode(NodeRow row);

  const NodeId& id() const { return row_.id; }
  const NodeRow& row() const { return row_; }
  const NodeInfo& info() const { return info_; }
  const std::string& source() const { return info_.source; }
  bool connected() const { return connected_; }
  bool expelled() const { return !row_.expelled.empty(); }
  /// Whether the node has too many recent failures. It then holds one ticket at a time.
  bool on_probation() const { return row_.recent_failures >= kManyFailures; }
  /// The time until which it gets no ticket after its own failures: 1 s, then 2, 4 ...
  /// kLongestRest.
  double rests_until() const;
  bool is_newcomer() const { return row_.accepted == 0 && !info_.trusted; }
  /// Its results need no confirmation: it is trusted, or its last 10 results were confirmed.
  bool is_proven() const { return info_.trusted || kChecks.is_proven(row_.consecutive_valid); }
  /// Whether it asked for tickets in the last seconds.
  bool has_asked(double now) const { return asked_ && now - *asked_ <= kAskSeconds; }
  NodeStatus status(size_t leases) const;

  const Speed& speed() const { return speed_; }
  Speed& speed() { return speed_; }
  /// The ticket at which the search for this node in a quorum task continues. The node probably
  /// voted on the tickets before it.
  TicketId cursor(TaskId task) const;
  void set_cursor(TaskId task, TicketId ticket) { cursors_[task] = ticket; }

  void connect(const NodeInfo& info, double now);
  void disconnect(double now);
  void seen(double now) { row_.last_seen = now; }
  void ask(double now) { asked_ = now; }
  /// `verified`: the result was confirmed, not only the first.
  void accepted(bool verified);
  /// A lease ended without a result. Leases from before the last failure count with that failure.
  void failed(double issued, double now);
  /// The connection was lost, with `leases` leases. They count as one failure. Honest connections
  /// break too, so one such failure alone causes no rest.
  void lost(int64_t leases, double now);
  /// A quorum agreed on another result.
  void outvoted(double now);
  void expel(const std::string& reason, double now);

 private:
  friend class Nodes;

  NodeRow row_;
  NodeInfo info_;
  bool connected_ = false;
  bool changed_ = false;    // since the last commit
  bool committed_ = false;  // a committed transaction contains the node
  Speed speed_;
  double failed_at_;             // the last failure
  std::optional<double> asked_;  // for tickets, the last time
  std::map<TaskId, TicketId> cursors_;
};

class Nodes {
 public:
  explicit Nodes(Store& store) : store_(store) {}

  /// Reads the rows of the connected nodes from the store again. Forgets the others.
  void load();
  /// Writes the rows that change() named.
  void write();
  /// Call when the rows are in the store. Forgets nodes that are not connected and hold no leases.
  void committed(const std::function<bool(const NodeId&)>& holds_leases);

  PoolNode& add(const NodeId& id);
  /// Returns a node, from the store if it is not in memory. Throws Error if it is unknown.
  PoolNode& get(const NodeId& id, std::string_view operation);
  /// Like get(), but adds the node if it is unknown. Stores do not keep newcomers.
  PoolNode& find_or_add(const NodeId& id);
  /// Null if the node is neither connected nor being changed.
  const PoolNode* find(const NodeId& id) const;
  PoolNode* find(const NodeId& id);
  const std::map<NodeId, PoolNode>& all() const { return nodes_; }
  size_t size() const { return nodes_.size(); }
  /// The connected nodes that are no newcomers. A node that joins again does not add to them.
  const std::map<NodeId, const PoolNode*>& established() const { return established_; }
  /// The next write() writes the node's row.
  void change(PoolNode& node);

  /// As the functions of PoolNode. They also count for the node's block of addresses, if any.
  void accepted(PoolNode& node, bool verified);
  void failed(PoolNode& node, double issued, double now);
  void lost(PoolNode& node, int64_t leases, double now);
  void outvoted(PoolNode& node, double now);
  /// Counts failures for the node's block only. Use it if the node may be honest or was expelled.
  void failed_in_block(const PoolNode& node, double now, double failures = 1);
  /// Returns the time until which the node gets no ticket. A newcomer also rests as long as its
  /// block. A node that joins again under a new name therefore gains nothing.
  double rests_until(const PoolNode& node) const;
  bool rests(const PoolNode& node, double now) const { return now < rests_until(node); }

  /// Changes with each call of membership_changed().
  uint64_t membership_version() const { return version_; }
  /// Call when a node joined, left or was expelled, or is a newcomer or proven no more, or is
  /// proven.
  void membership_changed() { ++version_; }

  /// Forgets nodes that were away for a month. If no result of a node counted, a day is enough.
  /// Returns the number of forgotten nodes.
  int64_t collect(double now);
  /// Nodes that were seen after `since` and are not in memory, the latest first.
  std::vector<NodeStatus> away(double since, int limit) const;

 private:
  /// The failures of all nodes without a token from an IPv4 /24 or an IPv6 /64.
  struct Block {
    double failures = 0, last = 0;
  };

  void index(const PoolNode& node);

  Store& store_;
  std::map<NodeId, PoolNode> nodes_;
  std::map<NodeId, const PoolNode*> established_;
  std::map<std::string, Block> blocks_;  // a restart forgets them
  std::vector<PoolNode*> changed_;
  uint64_t version_ = 1;
};

}  // namespace kaiseki::dist
