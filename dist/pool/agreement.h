// SPDX-License-Identifier: MIT
// Agreement: decides when a result counts that nodes sent, and which further nodes a ticket needs.
// As BOINC's adaptive replication: proven nodes compute alone, with samples; others are compared.
#pragma once

#include <string>

#include "dist/pool/eligibility.h"

namespace kaiseki::dist {

class Agreement {
 public:
  Agreement(const Nodes& nodes, const Leases& leases, const Votes& votes,
            const Eligibility& eligibility)
      : nodes_(nodes), leases_(leases), votes_(votes), eligibility_(eligibility) {}

  /// How many further leases the ticket needs.
  int64_t wanted(const PoolTicket& ticket) const;
  /// Whether the votes for the result suffice. They are more than those for any other result, and
  /// at least the quorum. While other nodes could compute the ticket, more votes are needed. If all
  /// these voters are unproven, one vote more is needed. Also, the result needs two votes more than
  /// any other result has.
  bool decides(const PoolTicket& ticket, const std::string& hash, double now) const;
  /// The node voted for a result that now suffices, since other nodes have left. The vote has no
  /// bytes, so the node may compute the ticket again.
  bool may_repeat(const PoolTicket& ticket, const PoolNode& node, double now) const;
  /// Whether a node that has not voted computes the ticket, or could.
  bool others_are_there(const PoolTicket& ticket, double now) const;
  bool may_get(const PoolTicket& ticket, const PoolNode& node, double now) const;

 private:
  /// Whether a node that has not voted could compute the ticket after its rest.
  bool others_rest(const PoolTicket& ticket, double now) const;
  bool is_proven(const NodeId& node) const;
  /// An unproven node takes part in the ticket, and a proven node could. So that unproven nodes
  /// rarely meet, no other unproven node gets it.
  bool is_for_proven_nodes(const PoolTicket& ticket, double now) const;

  const Nodes& nodes_;
  const Leases& leases_;
  const Votes& votes_;
  const Eligibility& eligibility_;
};

}  // namespace kaiseki::dist
