// SPDX-License-Identifier: MIT
#include "dist/pool/leases.h"

#include <algorithm>

#include "base/error.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kMostFirst = 16;  // first leases of a ticket that are kept: the newest

}  // namespace

void Leases::load() {
  tickets_.clear(), held_.clear(), deadlines_.clear();
  for (const LeaseRow& lease : store_.leases()) insert(tickets_[lease.ticket], lease);
}

std::vector<NodeId> Leases::holders() const {
  std::vector<NodeId> nodes;
  for (const auto& [node, held] : held_) nodes.push_back(node);
  std::ranges::sort(nodes);
  return nodes;
}

const std::vector<LeaseRow>& Leases::of_ticket(TicketId ticket) const {
  static const std::vector<LeaseRow> kNone;
  const auto found = tickets_.find(ticket);
  return found == tickets_.end() ? kNone : found->second.open;
}

const LeaseRow* Leases::find(TicketId ticket, const NodeId& node) const {
  const auto& open = of_ticket(ticket);
  const auto found = std::ranges::find(open, node, &LeaseRow::node);
  return found == open.end() ? nullptr : &*found;
}

std::optional<double> Leases::last_issued(TicketId ticket) const {
  const auto found = tickets_.find(ticket);
  return found == tickets_.end() ? std::nullopt : found->second.last_issued;
}

const LeaseRow* Leases::first(TicketId ticket, const NodeId& node) const {
  const auto entry = tickets_.find(ticket);
  if (entry == tickets_.end()) return nullptr;
  const auto found = entry->second.first.find(node);
  return found == entry->second.first.end() ? nullptr : &found->second;
}

void Leases::forget_first(TicketId ticket, const NodeId& node) {
  if (const auto entry = tickets_.find(ticket); entry != tickets_.end())
    entry->second.first.erase(node);
}

const Leases::Held& Leases::of_node(const NodeId& node) const {
  static const Held kNone;
  const auto found = held_.find(node);
  return found == held_.end() ? kNone : found->second;
}

void Leases::insert(OfTicket& entry, const LeaseRow& lease) {
  entry.open.push_back(lease);
  entry.last_issued = std::max(entry.last_issued.value_or(lease.issued), lease.issued);
  deadlines_.emplace(lease.deadline, lease.ticket, lease.epoch);
  held_[lease.node].emplace(lease.ticket, lease.epoch);
}

void Leases::erase(const LeaseRow& lease) {
  deadlines_.erase({lease.deadline, lease.ticket, lease.epoch});
  const auto held = held_.find(lease.node);
  held->second.erase({lease.ticket, lease.epoch});
  if (held->second.empty()) held_.erase(held);
}

void Leases::issue(const LeaseRow& lease) {
  if (!store_.add_lease(lease))
    throw Error(message("lease", "ticket ", lease.ticket, " is not at epoch ", lease.epoch - 1,
                        "; another process changed the store"));
  OfTicket& entry = tickets_[lease.ticket];
  insert(entry, lease);
  entry.last_issued = lease.issued;
  entry.first.try_emplace(lease.node, lease);
  if (entry.first.size() > kMostFirst)
    entry.first.erase(std::ranges::min_element(entry.first, {},
                                               [](const auto& one) { return one.second.issued; }));
}

LeaseRow Leases::end(TicketId ticket, int64_t epoch) {
  auto& open = tickets_.at(ticket).open;
  const auto found = std::ranges::find(open, epoch, &LeaseRow::epoch);
  const LeaseRow lease = *found;
  open.erase(found);
  erase(lease);
  store_.end_lease(ticket, epoch);
  return lease;
}

void Leases::extend(const LeaseRow& lease, double deadline) {
  auto& open = tickets_.at(lease.ticket).open;
  const auto found = std::ranges::find(open, lease.epoch, &LeaseRow::epoch);
  deadlines_.erase({found->deadline, found->ticket, found->epoch});
  found->deadline = deadline;
  deadlines_.emplace(deadline, found->ticket, found->epoch);
}

std::optional<LeaseRow> Leases::overdue(double now) const {
  if (deadlines_.empty()) return std::nullopt;
  const auto& [deadline, ticket, epoch] = *deadlines_.begin();
  if (deadline > now) return std::nullopt;
  return *std::ranges::find(of_ticket(ticket), epoch, &LeaseRow::epoch);
}

void Leases::forget(TicketId ticket) {
  const auto entry = tickets_.find(ticket);
  if (entry == tickets_.end()) return;
  for (const LeaseRow& lease : entry->second.open) erase(lease);
  tickets_.erase(entry);
}

}  // namespace kaiseki::dist
