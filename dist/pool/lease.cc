// SPDX-License-Identifier: MIT
// Which ticket a node gets next: projects by their share, tasks by priority, fresh tickets first,
// then those that have been out for longer than they should.
#include <algorithm>
#include <cmath>

#include "dist/pool/pool_state.h"
#include "dist/pool/token.h"
#include "matrix/error.h"

namespace kaiseki::dist {
namespace {

constexpr int kLoadAtOnce = 256;
constexpr size_t kMostHeld = 256;    // leases of one node
constexpr size_t kNewcomerHeld = 2;  // of an untrusted one, until a result of it was accepted
constexpr int64_t kMostAgain = 2;    // leases of one ticket beyond those that it needs
constexpr int kMostLooks = 256;  // at tickets that turn out not to be for this node, or at nodes
constexpr double kAsks = 2.5;    // seconds: who asked for tickets since wants some

}  // namespace

double Pool::Impl::typical(const OpenTicket& ticket, const NodeEntry& node) const {
  const Pace& pace = ticket.task->pace;
  return pace.measured() ? pace.typical(ticket.row.work, node.speed) : options.least_deadline;
}

double Pool::Impl::late(const OpenTicket& ticket, const NodeEntry& node) const {
  const Pace& pace = ticket.task->pace;
  return pace.measured() ? pace.late(ticket.row.work, node.speed) : options.least_deadline;
}

int64_t Pool::Impl::free_for(const NodeEntry& node) const {
  int64_t free = 0;
  for (const auto& [id, task] : tasks)
    if (suits(task, node)) free += task.progress.free;
  return free;
}

bool Pool::Impl::idle_could_take(int64_t free, const NodeEntry& besides) const {
  if (free <= 0 || free >= static_cast<int64_t>(nodes.size())) return false;
  int64_t idle = 0;
  int looks = 0;
  for (const auto& [id, other] : nodes) {
    if (++looks > kMostLooks) break;
    if (&other == &besides || !other.connected || !other.leases.empty() ||
        now() - other.asked > kAsks || other.row.failed_in_a_row >= kFailuresInARow ||
        !other.row.expelled.empty())
      continue;
    const bool can = std::ranges::any_of(tasks, [this, &node = other](const auto& task) {
      return task.second.progress.free > 0 && suits(task.second, node);
    });
    if (can && ++idle >= free) return true;
  }
  return false;
}

bool Pool::Impl::may_hold(const NodeEntry& node) const {
  if (node.row.failed_in_a_row >= kFailuresInARow)
    return node.leases.empty() && now() >= node.last_lease + kProbation;
  const bool newcomer = node.row.accepted == 0 && !node.info.trusted;
  if (node.leases.size() >= (newcomer ? kNewcomerHeld : kMostHeld)) return false;
  const auto threads = static_cast<size_t>(node.info.threads);
  if (node.leases.empty()) return true;
  // A few tickets are for those who can begin at once.
  const int64_t free = free_for(node);
  if (node.leases.size() < threads) return !idle_could_take(free, node);
  if (free <= static_cast<int64_t>(nodes.size())) {
    size_t others = 0;
    for (const auto& [id, task] : tasks)
      if (suits(task, node)) others = std::max(others, crowd(task).nodes);
    if (free <= static_cast<int64_t>(others)) return false;
  }
  double seconds = 0;
  for (const auto& [id, epoch] : node.leases) seconds += typical(tickets.at(id), node);
  return seconds / static_cast<double>(threads) < options.hold_seconds;
}

bool Pool::Impl::has_enough(const TaskEntry& task, const NodeEntry& node) const {
  const std::string& function = task.status.spec.function;
  const auto most = options.most_held.find(function);
  if (most == options.most_held.end()) return false;
  return most->second <= std::ranges::count_if(node.leases, [&](const auto& lease) {
           return tickets.at(lease.first).task->status.spec.function == function;
         });
}

bool Pool::Impl::suits(const TaskEntry& task, const NodeEntry& node) const {
  return task.status.state == TaskState::running && task.progress.open() > 0 &&
         is_able(task.status.spec, node);
}

bool Pool::Impl::is_able(const TaskSpec& spec, const NodeEntry& node) const {
  if (!spec.public_data && !node.info.trusted) return false;
  const auto& functions = node.info.functions;
  return (!spec.module.empty() && node.info.runs_modules) ||
         (!spec.function.empty() && std::ranges::find(functions, spec.function) != functions.end());
}

bool Pool::Impl::has_part(const OpenTicket& ticket, const NodeEntry& node) const {
  if (ticket.lease_of(node.row.id) || ticket.voted(node.row.id, node.info.source)) return true;
  const bool quorum = ticket.task->status.spec.verification == Verification::quorum;
  return quorum && !node.info.source.empty() &&
         std::ranges::any_of(ticket.leases, [&](const LeaseRow& lease) {
           const auto holder = nodes.find(lease.node);
           return holder != nodes.end() && holder->second.info.source == node.info.source;
         });
}

bool Pool::Impl::others_could(const OpenTicket& ticket, const NodeEntry& besides) const {
  const double time = now();
  return std::ranges::any_of(nodes, [&](const auto& entry) {
    const NodeEntry& other = entry.second;
    const bool there = other.connected && other.row.expelled.empty() &&
                       (!other.leases.empty() || time - other.asked <= kAsks);
    return there && &other != &besides && other.row.failed_in_a_row < kFailuresInARow &&
           !ticket.failed(other.row.id, other.info.source) && !has_part(ticket, other) &&
           is_able(ticket.task->status.spec, other);
  });
}

bool Pool::Impl::may_have(const OpenTicket& ticket, const NodeEntry& node) const {
  if (has_part(ticket, node)) return false;
  return !ticket.failed(node.row.id, node.info.source) || !others_could(ticket, node);
}

void Pool::Impl::load_fresh(TaskEntry& task) {
  const auto rows = store.fresh(task.status.id, task.loaded_to, kLoadAtOnce);
  for (const TicketRow& row : rows)
    if (!tickets.contains(row.id)) place(add(row));
  if (!rows.empty()) task.loaded_to = rows.back().id;
  task.all_loaded = rows.size() < kLoadAtOnce;
}

/// One that is idle will ask for it at once.
bool Pool::Impl::kept_for_another(const TaskEntry& task, TicketId ticket,
                                  const NodeEntry& node) const {
  const auto found = task.preferred.find(ticket);
  if (found == task.preferred.end()) return false;
  const Preference& preference = found->second;
  if (now() >= preference.kept_until || preference.node == node.row.id) return false;
  const auto other = nodes.find(preference.node);
  return other != nodes.end() && other->second.connected && other->second.leases.empty() &&
         now() - other->second.asked <= kAsks && other->second.row.expelled.empty();
}

OpenTicket* Pool::Impl::preferred_ticket(TaskEntry& task, NodeEntry& node) {
  for (auto at = task.by_preference.lower_bound({node.row.id, 0});
       at != task.by_preference.end() && at->first == node.row.id; ++at) {
    while (at->second > task.loaded_to && !task.all_loaded) load_fresh(task);
    if (!task.ready.contains(at->second)) continue;
    OpenTicket& ticket = tickets.at(at->second);
    if (may_have(ticket, node)) return &ticket;
  }
  return nullptr;
}

OpenTicket* Pool::Impl::ready_ticket(TaskEntry& task, NodeEntry& node) {
  while (!task.waiting.empty() && task.waiting.begin()->first <= now())
    place(tickets.at(task.waiting.begin()->second));
  if (OpenTicket* preferred = preferred_ticket(task, node)) return preferred;
  // Of other tasks' tickets in `ready` hardly any is not for the node.
  const bool quorum = task.status.spec.verification == Verification::quorum;
  TicketId from = quorum ? node.next[task.status.id] : 0;
  bool wrapped = from == 0;
  for (int looks = 0; looks < kMostLooks; ++looks) {
    auto found = task.ready.lower_bound(from);
    if (found == task.ready.end() && !task.all_loaded) {
      load_fresh(task);
      continue;
    }
    if (found == task.ready.end()) {
      from = 0;  // tickets before that may be wanted again
      if (wrapped) break;
      wrapped = true;
      continue;
    }
    from = *found + 1;
    OpenTicket& ticket = tickets.at(*found);
    if (!may_have(ticket, node) || kept_for_another(task, ticket.row.id, node)) continue;
    if (quorum) node.next[task.status.id] = from;
    return &ticket;
  }
  if (quorum) node.next[task.status.id] = from;
  return nullptr;
}

bool Pool::Impl::may_hang(const OpenTicket& ticket) const {
  if (ticket.task->pace.measured()) return false;
  const double last = ticket.leases.back().issued;
  return now() - last > std::max(options.first_deadline, last - ticket.leases.front().issued);
}

OpenTicket* Pool::Impl::outstanding_ticket(TaskEntry& task, NodeEntry& node) {
  int looks = 0;
  for (const auto& [given, id] : task.outstanding) {
    if (++looks > kMostLooks) break;
    OpenTicket& ticket = tickets.at(id);
    if (ticket.leases.empty() || (wanted(ticket) <= -kMostAgain && !may_hang(ticket))) continue;
    if (ticket.row.failures >= task.status.spec.max_attempts) continue;
    if (!may_have(ticket, node)) continue;
    const LeaseRow& last = ticket.leases.back();
    const auto holder = nodes.find(last.node);
    const double expected = late(ticket, holder == nodes.end() ? node : holder->second);
    if (now() - last.issued > expected * static_cast<double>(last.round)) return &ticket;
  }
  return nullptr;
}

OpenTicket* Pool::Impl::pick(NodeEntry& node) {
  std::vector<std::pair<double, ProjectId>> order;
  for (const auto& [id, project] : projects)
    order.emplace_back(std::max(project.served, served), id);
  std::ranges::sort(order);
  for (auto choose : {&Impl::ready_ticket, &Impl::outstanding_ticket})
    for (const auto& [share, id] : order)
      for (TaskId task_id : projects.at(id).tasks) {
        TaskEntry& task = tasks.at(task_id);
        if (!suits(task, node) || has_enough(task, node)) continue;
        if (OpenTicket* ticket = (this->*choose)(task, node)) return ticket;
      }
  return nullptr;
}

double Pool::Impl::limit(const OpenTicket& ticket, const NodeEntry& node, int64_t round) const {
  const Pace& pace = ticket.task->pace;
  const double seconds =
      pace.measured() ? pace.limit(ticket.row.work, node.speed) : options.first_deadline;
  return std::clamp(seconds * static_cast<double>(round), options.least_deadline, kLongestLease);
}

bool Pool::Impl::extend(LeaseRow& lease, const OpenTicket& ticket) {
  const double had = lease.deadline - lease.issued;
  double seconds = had < kLongestGuess ? 2 * had : had;
  if (ticket.task->pace.measured()) seconds = limit(ticket, node(lease.node, "pool"), lease.round);
  if (lease.issued + seconds <= lease.deadline) return false;
  deadlines.erase({lease.deadline, lease.ticket, lease.epoch});
  lease.deadline = lease.issued + seconds;
  deadlines.emplace(lease.deadline, lease.ticket, lease.epoch);
  return true;
}

Lease Pool::Impl::give(OpenTicket& ticket, NodeEntry& node) {
  TaskEntry& task = *ticket.task;
  const double time = now();
  const auto round = static_cast<int64_t>(node.leases.size()) / node.info.threads + 1;
  const LeaseRow lease{
      ticket.row.id, ticket.row.epoch + 1, node.row.id, time, time + limit(ticket, node, round),
      round};
  if (!store.add_lease(lease))
    throw Error(message("lease", "expected ticket ", ticket.row.id, " at epoch ", ticket.row.epoch,
                        ", got another; the store was changed by another process"));
  ++counters[wanted(ticket) > 0 ? "leases" : "leases_again"];
  ticket.row.epoch = lease.epoch;
  ticket.leases.push_back(lease);
  ticket.first.try_emplace(node.row.id, lease);
  if (ticket.first.size() > kMostFirst)
    ticket.first.erase(std::ranges::min_element(ticket.first, {},
                                                [](const auto& one) { return one.second.issued; }));
  ticket.given = time;
  place(ticket);
  deadlines.emplace(lease.deadline, lease.ticket, lease.epoch);
  node.leases.emplace(lease.ticket, lease.epoch);
  node.last_lease = time;

  ProjectEntry& project = projects.at(task.status.project);
  served = std::max(project.served, served);
  project.served = served + typical(ticket, node) * node.speed.gflops / node.speed.factor /
                                project.status.weight;
  TicketInput input = store.input(ticket.row.id);
  const Token token{lease.ticket, lease.epoch, static_cast<int64_t>(time + kTokenLife)};
  return {lease.ticket,
          task.status.id,
          lease.epoch,
          sign_token(key, node.row.id, token),
          lease.deadline,
          std::move(input.input),
          std::move(input.blobs),
          ticket.row.max_result_bytes,
          ticket.row.work};
}

std::vector<NodeId> Pool::waited_for() const {
  std::vector<NodeId> waited;
  for (const auto& [id, task] : impl_->tasks) {
    const auto& all = task.by_preference;
    for (auto at = all.begin(); at != all.end(); at = all.lower_bound({at->first + '\0', 0})) {
      const auto node = impl_->nodes.find(at->first);
      if (node != impl_->nodes.end() && node->second.connected && node->second.leases.empty())
        waited.push_back(at->first);
    }
  }
  return waited;
}

bool Pool::may_lease(const NodeId& id) {
  Impl& pool = *impl_;
  const auto found = pool.nodes.find(id);
  if (found == pool.nodes.end() || !found->second.row.expelled.empty()) return false;
  found->second.asked = pool.now();
  return pool.may_hold(found->second) && std::ranges::any_of(pool.tasks, [&](const auto& task) {
           return pool.suits(task.second, found->second) &&
                  !pool.has_enough(task.second, found->second);
         });
}

std::vector<Lease> Pool::lease(const NodeId& id, int count) {
  Impl& pool = *impl_;
  NodeEntry& node = pool.node(id, "lease");
  if (!node.connected)
    throw Error(message("lease", "expected a connected node, got ", id, "; it has to rejoin()"));
  std::vector<Lease> leases;
  if (!node.row.expelled.empty()) return leases;
  node.asked = pool.now();
  PoolChange change(pool, false);
  while (static_cast<int>(leases.size()) < count && pool.may_hold(node)) {
    OpenTicket* ticket = pool.pick(node);
    if (!ticket) break;
    leases.push_back(pool.give(*ticket, node));
  }
  node.row.last_seen = pool.now();
  if (!leases.empty()) pool.change(node);
  change.done();
  return leases;
}

}  // namespace kaiseki::dist
