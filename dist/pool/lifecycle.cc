// SPDX-License-Identifier: MIT
#include "dist/pool/lifecycle.h"

#include <utility>

#include "base/error.h"
#include "dist/pool/text.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kMostErrorText = 2000;

}  // namespace

PoolTicket* Lifecycle::open(TicketId id) {
  if (PoolTicket* ticket = on_.tickets.find(id)) return ticket;
  PoolTicket* ticket = on_.tickets.load(id);
  if (ticket) place(*ticket);
  return ticket;
}

void Lifecycle::load_fresh(PoolTask& task) {
  for (PoolTicket* ticket : on_.tickets.load_fresh(task)) place(*ticket);
}

void Lifecycle::place(PoolTicket& ticket) {
  const TicketDemand demand{on_.agreement.wanted(ticket),
                            !on_.leases.of_ticket(ticket.id()).empty(),
                            on_.leases.last_issued(ticket.id())};
  on_.tickets.place(ticket, demand, now());
}

void Lifecycle::issue(PoolTicket& ticket, const LeaseRow& lease) {
  const bool needed = on_.agreement.wanted(ticket) > 0;
  on_.leases.issue(lease);
  on_.accounts.charge(ticket.task().status().project, lease.charged);
  on_.accounts.count(needed ? "leases" : "leases_again");
  on_.tickets.issued(ticket, lease);
  place(ticket);
}

LeaseRow Lifecycle::end_lease(PoolTicket& ticket, int64_t epoch) {
  const LeaseRow lease = on_.leases.end(ticket.id(), epoch);
  on_.accounts.refund(ticket.task().status().project, lease.charged);
  on_.tickets.lease_ended(ticket, lease);
  on_.nodes.change(on_.nodes.get(lease.node, "pool"));
  return lease;
}

void Lifecycle::end_leases(const NodeId& node) {
  const Leases::Held leases = on_.leases.of_node(node);
  for (const auto& [id, epoch] : leases) {
    PoolTicket& ticket = on_.tickets.at(id);
    end_lease(ticket, epoch);
    settle(ticket);
  }
}

void Lifecycle::lose_leases(PoolNode& node) {
  on_.nodes.lost(node, static_cast<int64_t>(on_.leases.of_node(node.id()).size()), now());
  end_leases(node.id());
}

void Lifecycle::count_failure(const LeaseRow& lease) {
  PoolNode& holder = on_.nodes.get(lease.node, "pool");
  on_.nodes.failed(holder, lease.issued, now());
  on_.nodes.change(holder);
}

void Lifecycle::give_back(PoolTicket& ticket, const LeaseRow& lease) {
  count_failure(lease);
  settle(ticket);
}

void Lifecycle::fail(PoolTicket& ticket, const LeaseRow& lease, const std::string& text,
                     bool late) {
  const NodeId& id = lease.node;
  count_failure(lease);
  const PoolNode& holder = on_.nodes.get(id, "pool");
  const bool again = ticket.has_failed(id, holder.source());
  const bool may_count = !late || !on_.options.soft_deadlines.contains(ticket.spec().function);
  const bool others = on_.eligibility.others_could(ticket, holder, now());
  const bool counts = may_count && (!again || holder.info().trusted || !others);
  const int64_t left = ticket.spec().max_attempts - ticket.row().failures;
  const bool hangs = late && !ticket.task().pace().measured();
  // It got the ticket again as no other node could do it, and hangs again.
  const bool hopeless = counts && hangs && !others && ticket.has_hung(id, holder.source());
  const int64_t attempts = hopeless ? left : counts;
  on_.tickets.failed(ticket, {{ticket.id(), id, holder.source()}, attempts, late || others, hangs},
                     now());
  if (may_count || !again)  // failures that do not count may repeat without end
    on_.store.add_error(ticket.task().id(),
                        {ticket.id(), id, now(), clean_text(text, kMostErrorText)});
  on_.accounts.count("failed");
  settle(ticket);
}

void Lifecycle::settle(PoolTicket& ticket) {
  if (on_.leases.of_ticket(ticket.id()).empty() && on_.agreement.wanted(ticket) <= 0) {
    Finished dead;
    dead.task = ticket.task().id(), dead.ticket = ticket.id(), dead.dead = true;
    return finish(ticket, std::move(dead));
  }
  place(ticket);
  if (ticket.is_ready()) on_.reports.work_available();
}

void Lifecycle::count_beaten(const PoolTicket& ticket, const LeaseRow& lease) {
  PoolNode& holder = on_.nodes.get(lease.node, "pool");
  const bool failed = timing_.is_far_behind(ticket, holder, lease, now());
  const bool late = timing_.is_late(ticket, holder, lease, now());
  timing_.learn_beaten(ticket, holder, lease, now());
  if (failed) {
    on_.accounts.count("beaten");
    count_failure(lease);
  } else if (late && holder.is_newcomer()) {
    // The node could join again as a new node, without its record.
    on_.nodes.failed_in_block(holder, now());
  }
  on_.nodes.change(holder);
}

void Lifecycle::forget_parts(PoolTicket& ticket) {
  if (ticket.row().epoch > 0) on_.reports.unwanted(ticket.id());
  for (const LeaseRow& lease : on_.leases.of_ticket(ticket.id())) {
    on_.accounts.refund(ticket.task().status().project, lease.charged);
    on_.tickets.lease_ended(ticket, lease);
    count_beaten(ticket, lease);
  }
  on_.leases.forget(ticket.id());
  on_.votes.forget(ticket.id());
}

void Lifecycle::finish(PoolTicket& ticket, Finished finished) {
  finished.sequence = on_.tickets.finish(ticket, finished);
  on_.accounts.count(finished.dead ? "dead" : "accepted");
  forget_parts(ticket);
  on_.tickets.forget(ticket);
  on_.reports.finished(std::move(finished));
}

void Lifecycle::abandon(TaskId task, TicketId through) {
  for (PoolTicket* ticket : on_.tickets.of_task(task, through)) {
    forget_parts(*ticket);
    on_.tickets.abandon(*ticket);
  }
}

void Lifecycle::cancel(TaskId task) {
  for (PoolTicket* ticket : on_.tickets.of_task(task, INT64_MAX)) {
    if (ticket->row().epoch == 0) continue;
    on_.reports.unwanted(ticket->id());
    const std::vector<LeaseRow> leases = on_.leases.of_ticket(ticket->id());
    for (const LeaseRow& lease : leases) end_lease(*ticket, lease.epoch);
    place(*ticket);
  }
}

void Lifecycle::expel(PoolNode& node, const ExpulsionReason& reason, Expulsion::By by) {
  const ExpulsionReason clean{clean_text(reason.detail, kMostErrorText), reason.kind};
  node.expel(clean.text(), now());
  on_.nodes.failed_in_block(node, now());
  on_.nodes.membership_changed();
  on_.reports.expelled({node.id(), clean, by});
  on_.nodes.change(node);
  end_leases(node.id());
  remove_votes(node.id());
  on_.accounts.count("expelled");
}

void Lifecycle::remove_votes(const NodeId& node) {
  for (TicketId id : on_.votes.remove(node)) settle(on_.tickets.at(id));
}

}  // namespace kaiseki::dist
