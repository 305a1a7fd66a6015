// SPDX-License-Identifier: MIT
// Scheduler: selects the ticket that a node gets next. Projects come by their share, tasks by
// priority, fresh tickets before those that are late at other nodes.
#pragma once

#include "dist/pool/lifecycle.h"
#include "dist/pool/timing.h"

namespace kaiseki::dist {

class Scheduler {
 public:
  Scheduler(const PoolParts& parts, Lifecycle& lifecycle, const Timing& timing)
      : on_(parts), lifecycle_(lifecycle), timing_(timing) {}

  /// Whether the node may hold one more ticket.
  bool may_hold(const PoolNode& node) const;
  /// Whether any task has tickets for the node, or will have.
  bool has_task_for(const PoolNode& node) const;
  /// Null if there is no ticket for the node.
  PoolTicket* pick(PoolNode& node);
  /// Connected nodes without leases that open tickets prefer.
  std::vector<NodeId> preferred_nodes() const;
  /// Returns whether a task's ticket with the oldest lease is late.
  bool may_have_late_tickets() const;

 private:
  using Choose = PoolTicket* (Scheduler::*)(PoolTask&, PoolNode&);

  double now() const { return on_.options.clock(); }
  /// Whether the node holds as many tickets of the task's function as PoolOptions::max_held allows.
  bool has_enough(const PoolTask& task, const PoolNode& node) const;
  /// Whether the node is a newcomer, and there is no room for newcomers. Their part is limited only
  /// while other nodes could compute the task.
  bool has_enough_newcomers(const PoolTask& task, const PoolNode& node) const;
  int64_t free_tickets_for(const PoolNode& node) const;
  /// How many further tickets of the task newcomers may get beside other nodes.
  static int64_t room_for_newcomers(const PoolTask& task);
  /// Whether idle nodes could take all `free` tickets. Beside other nodes, newcomers count as far
  /// as they may get tickets.
  bool idle_could_take(int64_t free, const PoolNode& besides) const;
  bool is_idle(const PoolNode& node) const;
  PoolTicket* ready_ticket(PoolTask& task, PoolNode& node);
  PoolTicket* preferred_ticket(PoolTask& task, PoolNode& node);
  /// Whether the ticket prefers another node, which is idle and will ask at once.
  bool is_kept_for_another(const PoolTask& task, TicketId ticket, const PoolNode& node) const;
  /// A ticket that is late at all nodes that have it.
  PoolTicket* late_ticket(PoolTask& task, PoolNode& node);
  bool is_late(const PoolTicket& ticket) const;
  /// Seconds that the ticket takes on the node. Only results show that a node is faster than the
  /// median.
  double seconds_on(const PoolTicket& ticket, const PoolNode& node) const;
  /// Whether the ticket needs results of several nodes. A faster node then takes it from none.
  bool is_compared(const PoolTicket& ticket) const;
  /// Whether other nodes would finish `tickets` tickets like this one in `seconds`. A node's share
  /// therefore falls if it delivers less. Nodes without results count only if `besides` has no
  /// results and took longer than the others are expected to.
  bool others_are_sooner(const PoolTicket& ticket, const PoolNode& besides, double seconds,
                         int64_t tickets) const;
  /// Returns the number of tickets like this one that the node would finish in `seconds`.
  int64_t tickets_within(double seconds, const PoolTicket& ticket, const PoolNode& node) const;
  /// Whether the others would finish all free tickets of the task before the node finishes this
  /// one.
  bool is_better_left(const PoolTicket& ticket, const PoolNode& node) const;

  const PoolParts on_;
  Lifecycle& lifecycle_;
  const Timing& timing_;
};

}  // namespace kaiseki::dist
