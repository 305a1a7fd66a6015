// SPDX-License-Identifier: MIT
// PoolNode: one node and its record. Nodes: the nodes that are connected or being changed. All
// other nodes are in the store only.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
  /// Too many recent failures: it holds one ticket at a time.
  bool on_probation() const { return row_.recent_failures >= kManyFailures; }
  /// Until when it gets no ticket after its own failures: for 1 s, then 2, 4 ... kLongestRest.
  double rests_until() const;
  bool is_newcomer() const { return row_.accepted == 0 && !info_.trusted; }
  /// Its results count without those of others: it is trusted, or enough of its last results were
  /// right.
  bool is_proven() const { return info_.trusted || row_.consecutive_valid >= kTrustedAfter; }
  /// Whether it asked for tickets in the last seconds.
  bool has_asked(double now) const { return now - asked_ <= kAskSeconds; }
  NodeStatus status(size_t leases) const;

  const Speed& speed() const { return speed_; }
  Speed& speed() { return speed_; }
  /// The ticket at which its search in a quorum task continues. It probably voted on earlier ones.
  TicketId cursor(TaskId task) const;
  void set_cursor(TaskId task, TicketId ticket) { cursors_[task] = ticket; }

  void connect(const NodeInfo& info, double now);
  void disconnect(double now);
  void seen(double now) { row_.last_seen = now; }
  void ask(double now) { asked_ = now; }
  /// `verified`: the result was right, not only the first.
  void accepted(bool verified);
  /// A lease ended without a result. The leases that it held at its last failure count with that.
  void failed(double issued, double now);
  /// It lost the connection, and with it so many leases. They count as one failure. As connections
  /// break, one alone costs no rest.
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
  bool committed_ = false;  // a transaction with it was committed
  Speed speed_;
  double failed_at_;     // the last failure
  double asked_ = -1e9;  // for tickets, the last time
  std::map<TaskId, TicketId> cursors_;
};

class Nodes {
 public:
  explicit Nodes(Store& store) : store_(store) {}

  /// Reads the rows of the connected nodes from the store again. Forgets the others.
  void load();
  /// Writes the rows that change() named.
  void write();
  /// The rows are in the store. Forgets nodes that are not connected and hold nothing.
  void committed(const std::function<bool(const NodeId&)>& holds_leases);

  PoolNode& add(const NodeId& id);
  /// A node of this pool, read from the store if need be. Throws Error if it is unknown.
  PoolNode& get(const NodeId& id, std::string_view operation);
  /// As get(), for a node that has joined for sure. Stores forget newcomers: then it begins anew.
  PoolNode& find_or_add(const NodeId& id);
  /// Null if the node is neither connected nor being changed.
  const PoolNode* find(const NodeId& id) const;
  PoolNode* find(const NodeId& id);
  const std::map<NodeId, PoolNode>& all() const { return nodes_; }
  size_t size() const { return nodes_.size(); }
  /// The next write() writes its row.
  void change(PoolNode& node);

  /// As those of PoolNode. They also count for the node's block of addresses, if it has one.
  void accepted(PoolNode& node, bool verified);
  void failed(PoolNode& node, double issued, double now);
  void lost(PoolNode& node, int64_t leases, double now);
  void outvoted(PoolNode& node, double now);
  /// A failure for its block only. The node may be honest, or is not needed any more.
  void failed_in_block(const PoolNode& node, double now, double failures = 1);
  /// Until when the node gets no ticket. A newcomer rests as its block does too. So joining anew
  /// costs more each time.
  double rests_until(const PoolNode& node) const;
  bool rests(const PoolNode& node, double now) const { return now < rests_until(node); }

  /// Another number after each call of membership_changed().
  uint64_t membership_version() const { return version_; }
  /// A node came, left, was expelled, or is proven or not any more.
  void membership_changed() { ++version_; }

  /// Forgets nodes that have been away for a month; for a day, if no result of theirs counted.
  /// Returns their number.
  int64_t collect(double now);
  /// Nodes that were seen after `since` and are not in memory, the latest first.
  std::vector<NodeStatus> away(double since, int limit) const;

 private:
  /// The failures of all nodes without a token from an IPv4 /24 or an IPv6 /64.
  struct Block {
    double failures = 0, last = 0;
  };

  Store& store_;
  std::map<NodeId, PoolNode> nodes_;
  std::map<std::string, Block> blocks_;  // a restart forgets them
  std::vector<PoolNode*> changed_;
  uint64_t version_ = 1;
};

}  // namespace kaiseki::dist
