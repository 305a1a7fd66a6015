// SPDX-License-Identifier: MIT
#include "dist/pool/votes.h"

#include <algorithm>

namespace kaiseki::dist {

void Votes::load(TicketId ticket) {
  if (auto votes = store_.votes(ticket); !votes.empty()) tickets_[ticket] = std::move(votes);
}

const std::vector<VoteRow>& Votes::of(TicketId ticket) const {
  static const std::vector<VoteRow> kNone;
  const auto found = tickets_.find(ticket);
  return found == tickets_.end() ? kNone : found->second;
}

bool Votes::has_voted(TicketId ticket, const NodeId& node, const std::string& source) const {
  return std::ranges::any_of(of(ticket), [&](const VoteRow& vote) {
    return vote.node == node || (!source.empty() && vote.source == source);
  });
}

bool Votes::contradicts(TicketId ticket, const NodeId& node, const std::string& hash) const {
  const auto& votes = of(ticket);
  const auto own = std::ranges::find(votes, node, &VoteRow::node);
  return own != votes.end() && own->hash != hash;
}

int64_t Votes::agreed(TicketId ticket) const {
  int64_t most = 0;
  for (const VoteRow& vote : of(ticket)) most = std::max(most, count(ticket, vote.hash));
  return most;
}

int64_t Votes::count(TicketId ticket, const std::string& hash) const {
  return std::ranges::count(of(ticket), hash, &VoteRow::hash);
}

int64_t Votes::most_besides(TicketId ticket, const std::string& hash) const {
  int64_t most = 0;
  for (const VoteRow& vote : of(ticket))
    if (vote.hash != hash) most = std::max(most, count(ticket, vote.hash));
  return most;
}

bool Votes::add(const VoteRow& vote) {
  if (!store_.add_vote(vote)) return false;
  tickets_[vote.ticket].push_back(vote);
  return true;
}

std::vector<TicketId> Votes::remove(const NodeId& node) {
  const std::vector<TicketId> tickets = store_.drop_votes(node);
  for (TicketId ticket : tickets)
    std::erase_if(tickets_[ticket], [&](const VoteRow& vote) { return vote.node == node; });
  return tickets;
}

}  // namespace kaiseki::dist
