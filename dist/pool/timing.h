// SPDX-License-Identifier: MIT
// Timing: how long a ticket should take on a node, and how long its lease lasts.
#pragma once

#include <optional>

#include "dist/pool/nodes.h"
#include "dist/pool/options.h"
#include "dist/pool/tickets.h"

namespace kaiseki::dist {

class Timing {
 public:
  /// `options` must outlive this.
  explicit Timing(const PoolOptions& options) : options_(options) {}

  /// Seconds that the ticket typically takes on the node.
  double typical(const PoolTicket& ticket, const PoolNode& node) const;
  /// Tickets of the task that the node computes at the same time.
  int at_once(const TaskSpec& task, const PoolNode& node) const;
  /// Whether other nodes may try the ticket too.
  bool is_late(const PoolTicket& ticket, const PoolNode& holder, const LeaseRow& lease,
               double now) const;
  /// Whether the holder takes several times as long as expected.
  bool is_far_behind(const PoolTicket& ticket, const PoolNode& holder, const LeaseRow& lease,
                     double now) const;
  /// The seconds of a ticket as a share of the node's time. A node that is far behind counts as if
  /// it were not.
  double node_seconds(double seconds, const PoolTicket& ticket, const PoolNode& node) const;
  /// Learns how long the holder takes at least, after another node was faster.
  void learn_beaten(const PoolTicket& ticket, PoolNode& holder, const LeaseRow& lease,
                    double now) const;
  /// Seconds of a lease. The node computes `round - 1` tickets before this one.
  double limit(const PoolTicket& ticket, const PoolNode& node, int64_t round) const;
  /// A later deadline if new measurements show that the lease's deadline is too early. Without
  /// measurements the lease doubles, up to an hour. Returns nullopt if the deadline remains.
  std::optional<double> extended(const LeaseRow& lease, const PoolTicket& ticket,
                                 const PoolNode& node) const;
  /// Returns whether one more node may get the ticket, because all nodes with it may hang. The time
  /// until then doubles with each lease.
  bool may_hang(const PoolTicket& ticket, const std::vector<LeaseRow>& leases, double now) const;

 private:
  const PoolOptions& options_;
};

}  // namespace kaiseki::dist
