// SPDX-License-Identifier: MIT
#include "dist/pool/agreement.h"

#include <algorithm>

namespace kaiseki::dist {

bool Agreement::is_proven(const NodeId& id) const {
  const PoolNode* node = nodes_.find(id);
  return node && node->is_proven();
}

int64_t Agreement::wanted(const PoolTicket& ticket) const {
  const TaskSpec& spec = ticket.spec();
  const std::vector<LeaseRow>& leases = leases_.of_ticket(ticket.id());
  const std::vector<VoteRow>& votes = votes_.of(ticket.id());
  const int64_t agreed = votes_.agreed(ticket.id());
  if (ticket.row().failures + static_cast<int64_t>(votes.size()) - agreed >= spec.max_attempts)
    return 0;
  const auto proven_holds = [&] {
    return std::ranges::any_of(leases, [&](const auto& lease) { return is_proven(lease.node); });
  };
  const bool alone = !eligibility_.compares(spec) || (spec.verification == Verification::adaptive &&
                                                      votes.empty() && proven_holds());
  const int64_t results = alone ? 1 : std::max<int64_t>(1, spec.quorum - agreed);
  return results - static_cast<int64_t>(leases.size());
}

bool Agreement::others_are_there(const PoolTicket& ticket, double now) const {
  const bool held = std::ranges::any_of(leases_.of_ticket(ticket.id()), [&](const auto& lease) {
    return !votes_.has_voted(ticket.id(), lease.node, {});
  });
  return held || std::ranges::any_of(nodes_.all(), [&](const auto& entry) {
           return eligibility_.could_take(ticket, entry.second, now);
         });
}

bool Agreement::others_rest(const PoolTicket& ticket, double now) const {
  return std::ranges::any_of(nodes_.all(), [&](const auto& entry) {
    return nodes_.rests(entry.second, now) && eligibility_.may_vote(ticket, entry.second);
  });
}

bool Agreement::decides(const PoolTicket& ticket, const std::string& hash, double now) const {
  const int64_t quorum = ticket.spec().quorum, count = votes_.count(ticket.id(), hash);
  const int64_t besides = votes_.most_besides(ticket.id(), hash);
  if (count < quorum || count <= besides) return false;
  const bool proven = std::ranges::any_of(votes_.of(ticket.id()), [&](const VoteRow& vote) {
    return vote.hash == hash && is_proven(vote.node);
  });
  const bool clear = besides == 0 ? proven || count > quorum : count >= besides + kClearMajority;
  if (clear) return true;
  return !others_are_there(ticket, now) && (besides == 0 || !others_rest(ticket, now));
}

bool Agreement::may_repeat(const PoolTicket& ticket, const PoolNode& node, double now) const {
  const auto& votes = votes_.of(ticket.id());
  const auto own = std::ranges::find(votes, node.id(), &VoteRow::node);
  return own != votes.end() && !ticket.has_failed(node.id(), node.source()) &&
         decides(ticket, own->hash, now);
}

bool Agreement::is_for_proven_nodes(const PoolTicket& ticket, double now) const {
  const auto unproven = [&](const auto& one) { return !is_proven(one.node); };
  if (std::ranges::none_of(leases_.of_ticket(ticket.id()), unproven) &&
      std::ranges::none_of(votes_.of(ticket.id()), unproven))
    return false;
  return std::ranges::any_of(eligibility_.nodes_for(ticket.task()).proven, [&](const NodeId& id) {
    const PoolNode* node = nodes_.find(id);
    return node && eligibility_.could_take(ticket, *node, now);
  });
}

bool Agreement::may_get(const PoolTicket& ticket, const PoolNode& node, double now) const {
  if (eligibility_.takes_part(ticket, node))
    return leases_.of_ticket(ticket.id()).empty() && may_repeat(ticket, node, now);
  if (eligibility_.compares(ticket.spec()) && !node.is_proven() && is_for_proven_nodes(ticket, now))
    return false;
  return !ticket.has_failed(node.id(), node.source()) ||
         !eligibility_.others_could(ticket, node, now);
}

}  // namespace kaiseki::dist
