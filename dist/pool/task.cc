// SPDX-License-Identifier: MIT
#include "dist/pool/task.h"

namespace kaiseki::dist {

void TicketQueue::remove(TicketId ticket, const Position& at) {
  if (at.place == Place::ready) ready_.erase(ticket);
  if (at.place == Place::waiting) waiting_.erase({at.time, ticket});
  if (at.place == Place::outstanding) outstanding_.erase({at.time, ticket});
}

void TicketQueue::move(TicketId ticket, Position& from, Position to) {
  remove(ticket, from);
  from = to;
  if (to.place == Place::ready) ready_.insert(ticket);
  if (to.place == Place::waiting) waiting_.emplace(to.time, ticket);
  if (to.place == Place::outstanding) outstanding_.emplace(to.time, ticket);
}

std::optional<TicketId> TicketQueue::ready_from(TicketId ticket) const {
  const auto found = ready_.lower_bound(ticket);
  if (found == ready_.end()) return std::nullopt;
  return *found;
}

std::vector<TicketId> TicketQueue::through(TicketId through) const {
  std::vector<TicketId> all(ready_.begin(), ready_.upper_bound(through));
  for (const auto* timed : {&waiting_, &outstanding_})
    for (const auto& [time, ticket] : *timed)
      if (ticket <= through) all.push_back(ticket);
  return all;
}

std::optional<TicketId> TicketQueue::due(double now) const {
  if (waiting_.empty() || waiting_.begin()->first > now) return std::nullopt;
  return waiting_.begin()->second;
}

void Preferences::add(TicketId ticket, const NodeId& node, double kept_until) {
  tickets_.emplace(ticket, Preference{node, kept_until});
  nodes_.emplace(node, ticket);
}

const Preferences::Preference* Preferences::of(TicketId ticket) const {
  const auto found = tickets_.find(ticket);
  return found == tickets_.end() ? nullptr : &found->second;
}

std::optional<TicketId> Preferences::next(const NodeId& node, TicketId from) const {
  const auto found = nodes_.lower_bound({node, from});
  if (found == nodes_.end() || found->first != node) return std::nullopt;
  return found->second;
}

std::vector<NodeId> Preferences::nodes() const {
  std::vector<NodeId> nodes;
  for (auto at = nodes_.begin(); at != nodes_.end(); at = nodes_.lower_bound({at->first + '\0', 0}))
    nodes.push_back(at->first);
  return nodes;
}

void Preferences::remove(TicketId ticket) {
  const auto found = tickets_.find(ticket);
  if (found == tickets_.end()) return;
  nodes_.erase({found->second.node, ticket});
  tickets_.erase(found);
}

void Preferences::remove_through(TicketId ticket) {
  const auto end = tickets_.upper_bound(ticket);
  for (auto at = tickets_.begin(); at != end; ++at) nodes_.erase({at->second.node, at->first});
  tickets_.erase(tickets_.begin(), end);
}

}  // namespace kaiseki::dist
