// SPDX-License-Identifier: MIT
// Leases: the leases that have not ended, by ticket, by node and by deadline. Also records the
// first lease of a ticket to a node, because the node may have begun then.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dist/pool/store.h"

namespace kaiseki::dist {

class Leases {
 public:
  explicit Leases(Store& store) : store_(store) {}

  /// Reads the leases from the store.
  void load();
  bool empty() const { return deadlines_.empty(); }
  /// The nodes that hold leases.
  std::vector<NodeId> holders() const;

  /// The leases in the order of issue.
  const std::vector<LeaseRow>& of_ticket(TicketId ticket) const;
  /// The node's lease of the ticket; null if it has none.
  const LeaseRow* find(TicketId ticket, const NodeId& node) const;
  /// The time of the ticket's last lease since it was loaded, if it has one.
  std::optional<double> last_issued(TicketId ticket) const;
  /// The node's first lease of the ticket, ended or not, if it is known.
  const LeaseRow* first(TicketId ticket, const NodeId& node) const;
  /// The next lease of the ticket to the node is its first.
  void forget_first(TicketId ticket, const NodeId& node);

  /// Tickets with the epochs of the leases.
  using Held = std::set<std::pair<TicketId, int64_t>>;
  const Held& of_node(const NodeId& node) const;
  bool holds_any(const NodeId& node) const { return held_.contains(node); }

  /// Throws Error if the store has another epoch of the ticket.
  void issue(const LeaseRow& lease);
  /// Ends a lease and returns it.
  LeaseRow end(TicketId ticket, int64_t epoch);
  /// In memory only: a restart ends all leases.
  void extend(const LeaseRow& lease, double deadline);
  /// The lease with the earliest deadline, if that has passed.
  std::optional<LeaseRow> overdue(double now) const;
  /// The ticket has ended, and its leases in the store with it.
  void forget(TicketId ticket);

 private:
  struct OfTicket {
    std::vector<LeaseRow> open;
    std::map<NodeId, LeaseRow> first;
    std::optional<double> last_issued = {};
  };

  void insert(OfTicket& entry, const LeaseRow& lease);
  void erase(const LeaseRow& lease);

  Store& store_;
  std::unordered_map<TicketId, OfTicket> tickets_;
  std::unordered_map<NodeId, Held> held_;
  std::set<std::tuple<double, TicketId, int64_t>> deadlines_;
};

}  // namespace kaiseki::dist
