// SPDX-License-Identifier: MIT
// What happens to a ticket: a lease ends, an attempt fails, it is done or dead.
#include <algorithm>
#include <cmath>

#include "dist/pool/pool_state.h"
#include "dist/pool/text.h"
#include "matrix/error.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kMostErrorText = 2000;
constexpr double kLongestWait = 60;  // seconds between two attempts

}  // namespace

int64_t Pool::Impl::wanted(const OpenTicket& ticket) const {
  const TaskSpec& spec = ticket.task->status.spec;
  const int64_t agreed = ticket.agreed();
  const int64_t lost = ticket.row.failures + static_cast<int64_t>(ticket.votes.size()) - agreed;
  if (lost >= spec.max_attempts) return 0;
  const int64_t results = spec.verification == Verification::quorum ? spec.quorum - agreed : 1;
  return results - static_cast<int64_t>(ticket.leases.size());
}

void Pool::Impl::place(OpenTicket& ticket) {
  TaskEntry& task = *ticket.task;
  const TicketId id = ticket.row.id;
  switch (ticket.place) {
    case OpenTicket::Place::ready:
      task.ready.erase(id);
      break;
    case OpenTicket::Place::waiting:
      task.waiting.erase({ticket.key, id});
      break;
    case OpenTicket::Place::outstanding:
      task.outstanding.erase({ticket.key, id});
      break;
    case OpenTicket::Place::nowhere:
      break;
  }
  if (wanted(ticket) > 0 && ticket.row.not_before <= now()) {
    ticket.place = OpenTicket::Place::ready;
    task.ready.insert(id);
  } else if (wanted(ticket) > 0) {
    ticket.place = OpenTicket::Place::waiting;
    ticket.key = ticket.row.not_before;
    task.waiting.emplace(ticket.key, id);
  } else {
    ticket.place = OpenTicket::Place::outstanding;
    ticket.key = ticket.given;
    task.outstanding.emplace(ticket.key, id);
  }
  const bool leased = !ticket.leases.empty();
  task.progress.leased += leased - ticket.leased;
  task.progress.free -= leased - ticket.leased;
  ticket.leased = leased;
}

void Pool::Impl::forget(OpenTicket& ticket) {
  if (ticket.row.epoch > 0) not_wanted.push_back(ticket.row.id);
  for (const LeaseRow& lease : ticket.leases) {
    deadlines.erase({lease.deadline, lease.ticket, lease.epoch});
    NodeEntry& holder = node(lease.node, "pool");
    holder.leases.erase({lease.ticket, lease.epoch});
    change(holder);
  }
  TaskEntry& task = *ticket.task;
  task.ready.erase(ticket.row.id);
  task.waiting.erase({ticket.key, ticket.row.id});
  task.outstanding.erase({ticket.key, ticket.row.id});
  if (const auto found = task.preferred.find(ticket.row.id); found != task.preferred.end()) {
    task.by_preference.erase({found->second.node, found->first});
    task.preferred.erase(found);
  }
  tickets.erase(ticket.row.id);
}

LeaseRow Pool::Impl::end_lease(OpenTicket& ticket, const NodeId& id, int64_t epoch) {
  auto found = std::ranges::find(ticket.leases, epoch, &LeaseRow::epoch);
  const LeaseRow lease = *found;
  ticket.leases.erase(found);
  deadlines.erase({lease.deadline, lease.ticket, lease.epoch});
  NodeEntry& holder = node(id, "pool");
  holder.leases.erase({lease.ticket, lease.epoch});
  change(holder);
  store.end_lease(ticket.row.id, epoch);
  return lease;
}

void Pool::Impl::fail(OpenTicket& ticket, const NodeId& id, const std::string& text, bool late) {
  NodeEntry& holder = node(id, "pool");
  ++holder.row.failed, ++holder.row.failed_in_a_row;
  change(holder);
  const bool again = ticket.failed(id, holder.info.source);
  const bool counts = !late || !options.unhurried.contains(ticket.task->status.spec.function);
  if (counts && (!again || holder.info.trusted || !others_could(ticket, holder)))
    ++ticket.row.failures;
  if (!again) {
    ticket.failures.push_back({ticket.row.id, id, holder.info.source});
    store.add_failure(ticket.failures.back());
  }
  const double pause =
      late ? 0 : std::min(std::exp2(static_cast<double>(ticket.row.failures - 1)), kLongestWait);
  ticket.row.not_before = now() + pause;
  store.set_failures(ticket.row.id, ticket.row.failures, ticket.row.not_before);
  if (counts || !again)  // of others there may be no end
    store.add_error(ticket.row.task, {ticket.row.id, id, now(), clean_text(text, kMostErrorText)});
  ++counters["failed"];
  settle(ticket);
}

void Pool::Impl::settle(OpenTicket& ticket) {
  if (ticket.leases.empty() && wanted(ticket) <= 0) {
    Finished dead;
    dead.task = ticket.row.task, dead.ticket = ticket.row.id, dead.dead = true;
    return finish(ticket, std::move(dead));
  }
  place(ticket);
  work |= ticket.place == OpenTicket::Place::ready;
}

void Pool::Impl::finish(OpenTicket& ticket, Finished finished) {
  const auto sequence = store.finish(finished);
  if (!sequence)
    throw Error(message("pool", "expected ticket ", ticket.row.id,
                        " to be open, got one that had ended; the store was changed by another"));
  finished.sequence = *sequence;
  Progress& progress = ticket.task->progress;
  --(ticket.leased ? progress.leased : progress.free);
  ++(finished.dead ? progress.dead : progress.done);
  ++counters[finished.dead ? "dead" : "accepted"];
  forget(ticket);
  ended.push_back(std::move(finished));
}

void Pool::Impl::end_all_leases(NodeEntry& node) {
  const auto leases = node.leases;
  for (const auto& [id, epoch] : leases) {
    OpenTicket& ticket = tickets.at(id);
    end_lease(ticket, node.row.id, epoch);
    settle(ticket);
  }
}

void Pool::Impl::expel(NodeEntry& node, const std::string& reason, const std::string& by) {
  node.row.expelled = clean_text(reason, kMostErrorText);
  node.row.consecutive_valid = 0;
  node.row.last_seen = now();
  ++comings;
  put_out.push_back({node.row.id, node.row.expelled, by});
  change(node);
  end_all_leases(node);
  drop_votes(node);
  ++counters["expelled"];
}

void Pool::Impl::drop_votes(const NodeEntry& node) {
  for (TicketId id : store.drop_votes(node.row.id)) {
    OpenTicket& ticket = tickets.at(id);
    std::erase_if(ticket.votes, [&](const VoteRow& vote) { return vote.node == node.row.id; });
    settle(ticket);
  }
}

}  // namespace kaiseki::dist
