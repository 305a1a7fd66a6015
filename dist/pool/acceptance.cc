// SPDX-License-Identifier: MIT
#include "dist/pool/acceptance.h"

#include <algorithm>

#include "base/error.h"
#include "base/sha256.h"

namespace kaiseki::dist {

Answer Acceptance::count(Outcome outcome, PoolEvent event, std::string reason) {
  on_.accounts.count(event);
  return {outcome, std::move(reason)};
}

std::optional<Answer> Acceptance::refusal(const PoolNode& node, const std::optional<Token>& token) {
  if (node.expelled())
    return count(Outcome::refused, PoolEvent::refused_expelled,
                 "the node was expelled: " + node.row().expelled);
  if (!token)
    return count(Outcome::refused, PoolEvent::refused_token,
                 "the token is not that of a lease of this node");
  return std::nullopt;
}

Answer Acceptance::ended(TicketId ticket) {
  const auto row = on_.store.ticket(ticket);
  if (row && row->state == TicketState::done)
    return count(Outcome::duplicate, PoolEvent::duplicate);
  return count(Outcome::stale, PoolEvent::stale);
}

bool Acceptance::has_to_check(const PoolTicket& ticket, const PoolNode& node,
                              const Token& token) const {
  if (ticket.spec().verification != Verification::adaptive || !on_.options.verify) return false;
  return kChecks.checks(node.row().consecutive_valid, secret_.draw(node.id(), token));
}

bool Acceptance::is_right(const PoolTicket& ticket, ByteView result) const {
  const TicketInput input = on_.store.input(ticket.id());
  return on_.options.verify(
      {ticket.task().status(), ticket.id(), input.input, input.blobs, result});
}

double Acceptance::learn_pace(const PoolTicket& ticket, PoolNode& node, const Token& token) {
  const LeaseRow* first = on_.leases.first(ticket.id(), node.id());
  if (ticket.was_issued_before_loading() || !first) return timing_.typical(ticket, node);
  Pace& pace = ticket.task().pace();
  double seconds = (now() - first->issued) / static_cast<double>(first->round);
  if (pace.measured() && token.epoch != first->epoch) {
    // The node started the ticket at its first lease, at this one, or between the two.
    const double least = now() - static_cast<double>(token.expiry) + kTokenLife;
    seconds = std::min(seconds, std::max(least, timing_.typical(ticket, node)));
  }
  pace.add(seconds, ticket.row().work, node.speed());
  return seconds;
}

Answer Acceptance::accept(PoolTicket& ticket, PoolNode& node, const Token& token, ByteView result,
                          bool checked) {
  const double seconds = learn_pace(ticket, node, token);
  if (const LeaseRow* held = on_.leases.find(ticket.id(), node.id()))
    lifecycle_.end_lease(ticket, held->epoch);
  on_.accounts.charge(ticket.task().status().project, timing_.node_seconds(seconds, ticket, node));
  if (on_.eligibility.compares(ticket.spec())) return compare(ticket, node, token, result);
  on_.nodes.accepted(node, ticket.spec().verification == Verification::adaptive);
  return finish(ticket, node, result, checked);
}

Answer Acceptance::refuse_size(PoolTicket& ticket, const NodeId& node, size_t bytes) {
  const std::string reason =
      message("accept", "expected at most ", ticket.row().max_result_bytes, " bytes, got ", bytes);
  Answer answer = count(Outcome::refused, PoolEvent::refused_size, reason);
  if (const LeaseRow* held = on_.leases.find(ticket.id(), node)) {
    const LeaseRow lease = lifecycle_.end_lease(ticket, held->epoch);
    on_.leases.forget_first(ticket.id(), node);
    lifecycle_.fail(ticket, lease, reason, false);
  }
  return answer;
}

Answer Acceptance::refuse_wrong(const PoolTicket& ticket, PoolNode& node) {
  Answer answer = count(Outcome::refused, PoolEvent::refused_wrong,
                        "the result of ticket " + std::to_string(ticket.id()) + " is wrong");
  lifecycle_.expel(node, {answer.reason}, Expulsion::By::pool);
  return answer;
}

bool Acceptance::counts_alone(const PoolTicket& ticket, const PoolNode& node,
                              const Token& token) const {
  if (ticket.spec().verification != Verification::adaptive) return false;
  if (node.info().trusted) return true;
  if (!node.is_proven() || !on_.votes.of(ticket.id()).empty()) return false;
  return !kChecks.checks(node.row().consecutive_valid, secret_.draw(node.id(), token)) ||
         !on_.agreement.others_are_there(ticket, now());
}

bool Acceptance::confirms_vote(const PoolTicket& ticket, const PoolNode& node,
                               ByteView result) const {
  const auto& votes = on_.votes.of(ticket.id());
  const auto own = std::ranges::find(votes, node.id(), &VoteRow::node);
  return own != votes.end() && own->hash == sha256(result) &&
         on_.agreement.decides(ticket, own->hash, now());
}

Answer Acceptance::compare(PoolTicket& ticket, PoolNode& node, const Token& token,
                           ByteView result) {
  const VoteRow vote{ticket.id(), node.id(), sha256(result), node.source()};
  const bool alone = counts_alone(ticket, node, token);
  if (!alone) on_.votes.add(vote);  // false: it is there, and this confirms it
  if (!alone && !on_.agreement.decides(ticket, vote.hash, now())) {
    lifecycle_.settle(ticket);
    return count(Outcome::pending, PoolEvent::pending);
  }
  const int64_t agreed = on_.votes.count(ticket.id(), vote.hash);
  if (alone) on_.nodes.accepted(node, agreed > 0);
  const std::vector<VoteRow> votes = on_.votes.of(ticket.id());
  Answer answer = finish(ticket, node, result, agreed > 0);
  for (const VoteRow& one : votes) judge(one, vote.hash);  // after finish(): it may expel voters
  return answer;
}

void Acceptance::judge(const VoteRow& vote, const std::string& hash) {
  PoolNode& voter = on_.nodes.find_or_add(vote.node);
  on_.nodes.change(voter);
  if (vote.hash == hash) return on_.nodes.accepted(voter, true);
  on_.nodes.outvoted(voter, now());
  on_.accounts.count(PoolEvent::outvoted);
  const bool trusted = voter.connected() ? voter.info().trusted : vote.source.empty();
  if (trusted || voter.expelled() || voter.row().outvoted < kMostOutvoted) return;
  lifecycle_.expel(voter, {"its results differ from those on which other nodes agree"},
                   Expulsion::By::pool);
}

Answer Acceptance::finish(PoolTicket& ticket, const PoolNode& node, ByteView result, bool checked) {
  Finished finished;
  finished.task = ticket.task().id(), finished.ticket = ticket.id();
  finished.checked = checked, finished.node = node.id();
  if (result.size() > kMostInline)
    finished.blob = blobs_.put(result);
  else
    finished.result.assign(result.begin(), result.end());
  lifecycle_.finish(ticket, std::move(finished));
  return {Outcome::accepted, {}};
}

}  // namespace kaiseki::dist
