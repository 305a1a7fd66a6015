// SPDX-License-Identifier: MIT
#include "dist/pool/scheduler.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kaiseki::dist {
namespace {

constexpr size_t kMostHeld = 256;    // leases of one node
constexpr size_t kNewcomerHeld = 2;  // leases of an untrusted node without an accepted result
constexpr int64_t kNewcomers = 8;    // newcomers hold at most an eighth of a task's open tickets
constexpr int64_t kMostAgain = 2;    // extra leases of one ticket
constexpr int kMostLooks = 256;      // tickets or nodes of a kind that one search visits
constexpr int kFirstLooks = 64;      // of these, at the oldest tickets
constexpr double kSooner = 1.25;     // times faster than the node, so that equal nodes take turns
constexpr double kUnknown = 2;       // times slower than it claims, for a node without results

const PoolNode& node_of(const PoolNode& node) { return node; }
const PoolNode& node_of(const PoolNode* node) { return *node; }

/// Returns whether `use` is true for one of the nodes. Visits at most kMostLooks nodes, beginning
/// after `id`. A call therefore need not begin with the same nodes as other calls.
template <typename NodeMap, typename Use>
bool any_from(const NodeMap& nodes, const NodeId& id, const Use& use) {
  auto at = nodes.upper_bound(id);
  const int looks = static_cast<int>(std::min<size_t>(nodes.size(), kMostLooks));
  for (int i = 0; i < looks; ++i, ++at) {
    if (at == nodes.end()) at = nodes.begin();
    if (use(node_of(at->second))) return true;
  }
  return false;
}

}  // namespace

int64_t Scheduler::free_tickets_for(const PoolNode& node) const {
  int64_t free = 0;
  for (const auto& [id, task] : on_.tickets.tasks())
    if (Eligibility::suits(task, node)) free += task.progress().free;
  return free;
}

int64_t Scheduler::room_for_newcomers(const PoolTask& task) {
  const int64_t most = std::max<int64_t>(1, task.progress().open() / kNewcomers);
  return std::max<int64_t>(0, most - task.newcomer_leases());
}

bool Scheduler::is_idle(const PoolNode& node) const {
  return node.connected() && node.has_asked(now()) && !node.expelled() &&
         !on_.leases.holds_any(node.id());
}

bool Scheduler::idle_could_take(int64_t free, const PoolNode& besides) const {
  if (free <= 0 || free >= static_cast<int64_t>(on_.nodes.size())) return false;
  int64_t newcomers = besides.is_newcomer() ? INT64_MAX : 0;
  for (const auto& [id, task] : on_.tickets.tasks())
    if (!besides.is_newcomer() && task.progress().free > 0) newcomers += room_for_newcomers(task);
  const auto could_take = [&](const PoolNode& other) {
    if (&other == &besides || other.on_probation() || on_.nodes.rests(other, now()) ||
        !is_idle(other))
      return false;
    return std::ranges::any_of(on_.tickets.tasks(), [&](const auto& task) {
      return task.second.progress().free > 0 && Eligibility::suits(task.second, other);
    });
  };
  const NodeId& from = besides.id();
  return any_from(on_.nodes.established(), from,
                  [&](const PoolNode& other) { return could_take(other) && --free <= 0; }) ||
         any_from(on_.nodes.all(), from, [&](const PoolNode& other) {
           return newcomers > 0 && other.is_newcomer() && could_take(other) &&
                  (--newcomers, --free <= 0);
         });
}

bool Scheduler::may_hold(const PoolNode& node) const {
  const Leases::Held& held = on_.leases.of_node(node.id());
  if (on_.nodes.rests(node, now())) return false;
  if (node.on_probation()) return held.empty();
  if (held.size() >= (node.is_newcomer() ? kNewcomerHeld : kMostHeld)) return false;
  if (held.empty()) return true;
  const auto threads = static_cast<size_t>(node.info().threads);
  // If few tickets are left, nodes that can begin at once get them.
  const int64_t free = free_tickets_for(node);
  if (held.size() < threads) return !idle_could_take(free, node);
  if (free <= static_cast<int64_t>(on_.nodes.size())) {
    size_t others = 0;
    for (const auto& [id, task] : on_.tickets.tasks()) {
      if (!Eligibility::suits(task, node)) continue;
      const EligibleNodes& eligible = on_.eligibility.nodes_for(task);
      const size_t newcomers = eligible.nodes - eligible.established;
      const auto room = static_cast<size_t>(room_for_newcomers(task));
      others = std::max(others, eligible.established +
                                    (node.is_newcomer() ? newcomers : std::min(newcomers, room)));
    }
    if (free <= static_cast<int64_t>(others)) return false;
  }
  double seconds = 0;
  for (const auto& [id, epoch] : held) seconds += timing_.typical(on_.tickets.at(id), node);
  return seconds / static_cast<double>(threads) < on_.options.hold_seconds;
}

bool Scheduler::has_enough(const PoolTask& task, const PoolNode& node) const {
  const std::string& function = task.spec().function;
  const auto most = on_.options.max_held.find(function);
  if (most == on_.options.max_held.end()) return false;
  return most->second <=
         std::ranges::count_if(on_.leases.of_node(node.id()), [&](const auto& lease) {
           return on_.tickets.at(lease.first).spec().function == function;
         });
}

bool Scheduler::has_task_for(const PoolNode& node) const {
  return std::ranges::any_of(on_.tickets.tasks(), [&](const auto& task) {
    return Eligibility::suits(task.second, node) && !has_enough(task.second, node);
  });
}

std::vector<NodeId> Scheduler::preferred_nodes() const {
  std::vector<NodeId> preferred;
  for (const auto& [id, task] : on_.tickets.tasks())
    for (const NodeId& one : task.preferences().nodes()) {
      const PoolNode* node = on_.nodes.find(one);
      if (node && node->connected() && !on_.leases.holds_any(one)) preferred.push_back(one);
    }
  return preferred;
}

bool Scheduler::is_kept_for_another(const PoolTask& task, TicketId ticket,
                                    const PoolNode& node) const {
  const Preferences::Preference* preference = task.preferences().of(ticket);
  if (!preference || now() >= preference->kept_until || preference->node == node.id()) return false;
  const PoolNode* other = on_.nodes.find(preference->node);
  return other && is_idle(*other) && !on_.nodes.rests(*other, now()) &&
         !is_better_left(on_.tickets.at(ticket), *other);
}

PoolTicket* Scheduler::preferred_ticket(PoolTask& task, PoolNode& node) {
  const Preferences& preferences = task.preferences();
  for (auto at = preferences.next(node.id(), 0); at; at = preferences.next(node.id(), *at + 1)) {
    while (*at > task.loaded_to() && !task.all_loaded()) lifecycle_.load_fresh(task);
    if (!task.queue().is_ready(*at)) continue;
    PoolTicket& ticket = on_.tickets.at(*at);
    if (on_.agreement.may_get(ticket, node, now())) return &ticket;
  }
  return nullptr;
}

PoolTicket* Scheduler::ready_ticket(PoolTask& task, PoolNode& node) {
  while (const auto due = task.queue().due(now())) lifecycle_.place(on_.tickets.at(*due));
  if (PoolTicket* preferred = preferred_ticket(task, node))
    return is_better_left(*preferred, node) ? nullptr : preferred;
  // Any node can take nearly all ready tickets of other tasks, so the search starts at the first.
  // In tasks that compare results, it continues at the cursor after the first tickets. These wait
  // for the votes of other nodes.
  const bool compares = on_.eligibility.compares(task.spec());
  const TicketId cursor = compares ? node.cursor(task.id()) : 0;
  TicketId from = 0, rest = 0;
  PoolTicket* chosen = nullptr;
  int looks = 0;
  for (; looks < kMostLooks && !chosen; ++looks) {
    if (looks == kFirstLooks && cursor > from) rest = std::exchange(from, cursor);
    const auto found = task.queue().ready_from(from);
    if (!found && !task.all_loaded()) {
      lifecycle_.load_fresh(task);
      continue;
    }
    if (!found) {
      if (rest == 0) break;
      from = std::exchange(rest, 0);  // tickets before the cursor may be wanted again
      continue;
    }
    from = *found + 1;
    PoolTicket& ticket = on_.tickets.at(*found);
    if (!on_.agreement.may_get(ticket, node, now()) || is_kept_for_another(task, *found, node))
      continue;
    if (is_better_left(ticket, node)) break;
    chosen = &ticket;
  }
  if (compares && looks > kFirstLooks) node.set_cursor(task.id(), from);
  return chosen;
}

double Scheduler::seconds_on(const PoolTicket& ticket, const PoolNode& node) const {
  const double seconds = timing_.typical(ticket, node);
  if (node.speed().measured) return seconds;
  return std::max(seconds, ticket.task().pace().median_seconds(ticket.row().work));
}

int64_t Scheduler::tickets_within(double seconds, const PoolTicket& ticket,
                                  const PoolNode& node) const {
  const Leases::Held& held = on_.leases.of_node(node.id());
  double wait = 0;
  for (const auto& [id, epoch] : held) {
    const PoolTicket& other = on_.tickets.at(id);
    const LeaseRow& lease = *on_.leases.find(id, node.id());
    if (timing_.is_late(other, node, lease, now())) return 0;
    const double needed = timing_.typical(other, node) * static_cast<double>(lease.round);
    wait = std::max(wait, lease.issued + needed - now());
  }
  const int at_once = timing_.at_once(ticket.spec(), node);
  if (held.size() < static_cast<size_t>(at_once)) wait = 0;
  const double rounds = std::floor((seconds - wait) / seconds_on(ticket, node));
  return static_cast<int64_t>(std::clamp(rounds, 0.0, 1e6)) * at_once;
}

bool Scheduler::is_compared(const PoolTicket& ticket) const {
  return on_.eligibility.compares(ticket.spec()) &&
         (ticket.spec().verification == Verification::quorum ||
          !on_.leases.of_ticket(ticket.id()).empty() || !on_.votes.of(ticket.id()).empty());
}

bool Scheduler::others_are_sooner(const PoolTicket& ticket, const PoolNode& besides, double seconds,
                                  int64_t tickets) const {
  if (!ticket.task().pace().measured() || tickets > kMostLooks || is_compared(ticket)) return false;
  const auto are_enough = [&](const PoolNode& other) {
    if (&other == &besides || !on_.eligibility.could_take(ticket, other, now())) return false;
    const bool counts = other.speed().measured ||
                        (!besides.speed().measured &&
                         kSooner * seconds_on(ticket, other) < seconds_on(ticket, besides));
    if (counts) tickets -= tickets_within(seconds / kSooner, ticket, other);
    return tickets <= 0;
  };
  return any_from(on_.nodes.established(), besides.id(), are_enough) ||
         any_from(on_.nodes.all(), besides.id(),
                  [&](const PoolNode& other) { return other.is_newcomer() && are_enough(other); });
}

bool Scheduler::is_better_left(const PoolTicket& ticket, const PoolNode& node) const {
  const auto held = static_cast<int64_t>(on_.leases.of_node(node.id()).size());
  const int64_t rounds = held / timing_.at_once(ticket.spec(), node) + 1;
  return others_are_sooner(ticket, node, seconds_on(ticket, node) * static_cast<double>(rounds),
                           ticket.task().progress().free);
}

bool Scheduler::is_late(const PoolTicket& ticket) const {
  const LeaseRow& last = on_.leases.of_ticket(ticket.id()).back();
  const PoolNode* holder = on_.nodes.find(last.node);
  return holder && timing_.is_late(ticket, *holder, last, now());
}

bool Scheduler::may_have_late_tickets() const {
  return std::ranges::any_of(on_.tickets.tasks(), [&](const auto& entry) {
    const PoolTask& task = entry.second;
    const auto& outstanding = task.queue().outstanding();
    if (!task.is(TaskState::running) || outstanding.empty()) return false;
    const PoolTicket& oldest = on_.tickets.at(outstanding.begin()->second);
    return !on_.leases.of_ticket(oldest.id()).empty() && is_late(oldest);
  });
}

PoolTicket* Scheduler::late_ticket(PoolTask& task, PoolNode& node) {
  int looks = 0;
  for (const auto& [issued, id] : task.queue().outstanding()) {
    if (++looks > kMostLooks) break;
    PoolTicket& ticket = on_.tickets.at(id);
    const std::vector<LeaseRow>& leases = on_.leases.of_ticket(id);
    if (leases.empty() || ticket.row().failures >= task.spec().max_attempts) continue;
    const bool enough = on_.agreement.wanted(ticket) <= -kMostAgain;
    if (enough && !timing_.may_hang(ticket, leases, now())) continue;
    if (!is_late(ticket) || !on_.agreement.may_get(ticket, node, now())) continue;
    // A node without results may hold the ticket without computing it.
    const double seconds = seconds_on(ticket, node) * (node.speed().measured ? 1 : kUnknown);
    if (!others_are_sooner(ticket, node, seconds, 1)) return &ticket;
  }
  return nullptr;
}

bool Scheduler::has_enough_newcomers(const PoolTask& task, const PoolNode& node) const {
  if (!node.is_newcomer()) return false;
  if (room_for_newcomers(task) > 0 || on_.eligibility.nodes_for(task).established == 0)
    return false;
  return std::ranges::any_of(on_.nodes.established(), [&](const auto& entry) {
    const PoolNode& other = *entry.second;
    return !other.expelled() && !on_.nodes.rests(other, now()) &&
           Eligibility::is_able(task.spec(), other) &&
           (other.has_asked(now()) || on_.leases.holds_any(other.id()));
  });
}

PoolTicket* Scheduler::pick(PoolNode& node) {
  const std::vector<ProjectId> projects = on_.accounts.by_share();
  for (Choose choose : {&Scheduler::ready_ticket, &Scheduler::late_ticket})
    for (ProjectId project : projects)
      for (TaskId id : on_.tickets.of_project(project)) {
        PoolTask& task = on_.tickets.task(id, "lease");
        if (!Eligibility::suits(task, node) || has_enough(task, node) ||
            has_enough_newcomers(task, node))
          continue;
        if (PoolTicket* ticket = (this->*choose)(task, node)) return ticket;
      }
  return nullptr;
}

}  // namespace kaiseki::dist
