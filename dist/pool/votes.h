// SPDX-License-Identifier: MIT
// Votes: the results of quorum tasks that wait for others to agree.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dist/pool/store.h"

namespace kaiseki::dist {

class Votes {
 public:
  explicit Votes(Store& store) : store_(store) {}

  /// Reads the votes on the tickets for which `compares` is true.
  void load(const std::function<bool(TicketId)>& compares);

  const std::vector<VoteRow>& of(TicketId ticket) const;
  /// Whether the node, or another node of its source, has voted.
  bool has_voted(TicketId ticket, const NodeId& node, const std::string& source) const;
  /// Whether the node has voted for another result.
  bool contradicts(TicketId ticket, const NodeId& node, const std::string& hash) const;
  /// Votes for the result that most nodes agree on.
  int64_t agreed(TicketId ticket) const;
  int64_t count(TicketId ticket, const std::string& hash) const;
  /// The most votes that any other result has.
  int64_t most_besides(TicketId ticket, const std::string& hash) const;

  /// Returns false if the node has already voted. The vote is then discarded.
  bool add(const VoteRow& vote);
  /// Deletes the node's votes. Returns the tickets they were for.
  std::vector<TicketId> remove(const NodeId& node);
  /// The ticket has ended, and its votes in the store with it.
  void forget(TicketId ticket) { tickets_.erase(ticket); }

 private:
  Store& store_;
  std::unordered_map<TicketId, std::vector<VoteRow>> tickets_;
};

}  // namespace kaiseki::dist
