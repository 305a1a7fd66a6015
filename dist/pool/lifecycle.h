// SPDX-License-Identifier: MIT
// Lifecycle: the steps of a ticket, each within a transaction. A lease ends, an attempt fails, or
// the ticket is done or dead. docs/pool.md draws them.
#pragma once

#include <string>

#include "dist/pool/accounts.h"
#include "dist/pool/agreement.h"
#include "dist/pool/reports.h"
#include "dist/pool/timing.h"

namespace kaiseki::dist {

/// The parts of a pool that hold its state.
struct PoolParts {
  const PoolOptions& options;
  Store& store;
  Tickets& tickets;
  Leases& leases;
  Votes& votes;
  Nodes& nodes;
  Accounts& accounts;
  Reports& reports;
  const Eligibility& eligibility;
  const Agreement& agreement;
};

class Lifecycle {
 public:
  Lifecycle(const PoolParts& parts, const Timing& timing) : on_(parts), timing_(timing) {}

  /// An open ticket, read from the store if need be; null if it is not open.
  PoolTicket* open(TicketId ticket);
  void load_fresh(PoolTask& task);
  /// Puts the ticket where it belongs after a change.
  void place(PoolTicket& ticket);

  /// Leases the ticket to the node, and charges its project.
  void issue(PoolTicket& ticket, const LeaseRow& lease);
  /// Refunds the charge.
  LeaseRow end_lease(PoolTicket& ticket, int64_t epoch);
  /// Ends all leases of a node. This is not a failed attempt of the tickets.
  void end_leases(const NodeId& node);
  /// Ends all leases of a node after its connection ended. This counts as one failure of the node.
  /// It is not a failed attempt of the tickets, because any peer can connect and leave.
  void lose_leases(PoolNode& node);

  /// Records a failed attempt. Its lease has ended. `late`: its deadline has passed. The node
  /// rests. The next attempt waits only if no other node could make it. A node without a token
  /// could fail on purpose. Each source counts once, and again only after all other nodes have
  /// failed too.
  void fail(PoolTicket& ticket, const LeaseRow& lease, const std::string& text, bool late);
  /// Records that the node returned the ticket: the node rests. Its lease has ended.
  void give_back(PoolTicket& ticket, const LeaseRow& lease);
  /// After a lease ended: the ticket is dead if there is nothing left to try, else it is placed.
  void settle(PoolTicket& ticket);
  void finish(PoolTicket& ticket, Finished finished);
  /// Takes all open tickets of a task out of memory: their rows are deleted.
  void abandon(TaskId task, TicketId through);
  /// Ends all leases of a cancelled task's tickets.
  void cancel(TaskId task);

  /// Ends the node's leases and deletes its votes on open tickets.
  void expel(PoolNode& node, const ExpulsionReason& reason, Expulsion::By by);

 private:
  double now() const { return on_.options.clock(); }
  /// A failure of the node, which rests.
  void count_failure(const LeaseRow& lease);
  /// Another node finished the ticket. Lowers the measured speed of the lease's holder. If the
  /// holder is much slower than expected, this is a failure.
  void count_beaten(const PoolTicket& ticket, const LeaseRow& lease);
  /// The ticket leaves memory: removes its leases and votes from memory.
  void forget_parts(PoolTicket& ticket);
  void remove_votes(const NodeId& node);

  const PoolParts on_;
  const Timing& timing_;
};

}  // namespace kaiseki::dist
