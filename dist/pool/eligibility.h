// SPDX-License-Identifier: MIT
// Eligibility: decides whether a node may compute a ticket.
#pragma once

#include <map>
#include <string>

#include "dist/pool/leases.h"
#include "dist/pool/nodes.h"
#include "dist/pool/options.h"
#include "dist/pool/tickets.h"
#include "dist/pool/votes.h"

namespace kaiseki::dist {

/// Connected nodes that could compute a task's tickets.
struct EligibleNodes {
  size_t nodes = 0, sources = 0;
  size_t untrusted = 0;     // nodes that may not see the data; not in `nodes`
  size_t without_code = 0;  // nodes without the function, which run no modules; not in `nodes`
  size_t too_small = 0;     // nodes that lack only the memory; not in `nodes`
  size_t established = 0;   // of the nodes, those that are no newcomers
  std::vector<NodeId> proven = {};
};

class Eligibility {
 public:
  /// The arguments must outlive this.
  Eligibility(const PoolOptions& options, const Nodes& nodes, const Leases& leases,
              const Votes& votes)
      : options_(options), nodes_(nodes), leases_(leases), votes_(votes) {}

  /// Whether the node may see the task's data, and has the memory for a ticket. It must also have
  /// the task's function or run its module.
  static bool is_able(const TaskSpec& spec, const PoolNode& node);
  /// Whether results count after a comparison with those of other nodes.
  bool compares(const TaskSpec& spec) const;
  /// The task runs, has open tickets, and the node is able to compute them.
  static bool suits(const PoolTask& task, const PoolNode& node);
  /// Whether the node, or another of its source, holds the ticket or has voted on it.
  bool takes_part(const PoolTicket& ticket, const PoolNode& node) const;
  /// Whether the node is able to compute the ticket, has not failed at it and takes no part in it.
  bool may_vote(const PoolTicket& ticket, const PoolNode& node) const;
  /// The same for a node that works or asks for tickets, and does not rest.
  bool could_take(const PoolTicket& ticket, const PoolNode& node, double now) const;
  /// Whether another node could_take() the ticket.
  bool others_could(const PoolTicket& ticket, const PoolNode& besides, double now) const;

  /// The count is kept until a node comes or goes.
  const EligibleNodes& nodes_for(const PoolTask& task) const;
  /// The reason why a task waits for other nodes; empty if it does not wait.
  std::string wait_reason(const PoolTask& task) const;

 private:
  EligibleNodes count(const PoolTask& task) const;

  const PoolOptions& options_;
  const Nodes& nodes_;
  const Leases& leases_;
  const Votes& votes_;
  mutable uint64_t version_ = 0;  // Nodes::membership_version() of the counts
  mutable std::map<TaskId, EligibleNodes> counts_;
};

}  // namespace kaiseki::dist
