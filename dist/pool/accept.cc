// SPDX-License-Identifier: MIT
// Results that come back: whose they are, whether they are right, and that each ticket's counts
// exactly once (the store's conditional UPDATE decides, not what is in memory).
#include <algorithm>
#include <charconv>

#include "dist/pool/crash_point.h"
#include "dist/pool/crypto.h"
#include "dist/pool/pool_state.h"
#include "matrix/error.h"

namespace kaiseki::dist {
namespace {

constexpr double kLeastChecked = 0.02;

}  // namespace

Answer Pool::Impl::count(Outcome outcome, std::string_view counter, std::string reason) {
  ++counters[std::string(counter)];
  return {outcome, std::move(reason)};
}

std::optional<Answer> Pool::Impl::refusal(const NodeEntry& node,
                                          const std::optional<Token>& token) {
  if (!node.row.expelled.empty())
    return count(Outcome::refused, "refused_expelled",
                 "the node was expelled: " + node.row.expelled);
  if (!token)
    return count(Outcome::refused, "refused_token",
                 "expected the token of a lease of this node, got another");
  return std::nullopt;
}

bool Pool::Impl::to_check(const OpenTicket& ticket, const NodeEntry& node,
                          const Token& token) const {
  if (ticket.task->status.spec.verification != Verification::adaptive) return false;
  const auto valid = node.row.consecutive_valid;
  if (valid < kTrustedAfter) return true;
  const double share = std::max(kLeastChecked, 1.0 / static_cast<double>(valid));
  // Nodes cannot foresee it, and no generator's state has to be kept.
  const std::string digits =
      hmac_sha256_hex(key, "check " + node.row.id + " " + std::to_string(token.ticket) + " " +
                               std::to_string(token.epoch));
  uint32_t drawn = 0;
  std::from_chars(digits.data(), digits.data() + 8, drawn, 16);
  return drawn / 4294967296.0 < share;
}

bool Pool::Impl::is_right(const OpenTicket& ticket, ByteView result) const {
  const TicketInput input = store.input(ticket.row.id);
  if (!options.verify) throw Error(message("accept", kNoVerify));
  return options.verify({ticket.task->status, ticket.row.id, input.input, input.blobs, result});
}

void Pool::Impl::learn(const OpenTicket& ticket, NodeEntry& node, const Token& token) {
  const auto found = ticket.first.find(node.row.id);
  if (ticket.old || found == ticket.first.end()) return;
  const LeaseRow& first = found->second;
  Pace& pace = ticket.task->pace;
  double seconds = (now() - first.issued) / static_cast<double>(first.round);
  if (pace.measured() && token.epoch != first.epoch) {  // it began with one of them, or between
    const double least = now() - static_cast<double>(token.expiry) + kTokenLife;
    seconds = std::min(seconds, std::max(least, typical(ticket, node)));
  }
  pace.add(seconds, ticket.row.work, node.speed);
}

void Pool::Impl::judge_voters(const OpenTicket& ticket, const std::string& hash) {
  for (const VoteRow& vote : ticket.votes) {
    NodeEntry& voter = node(vote.node, "accept");
    const bool right = vote.hash == hash;
    voter.row.consecutive_valid = right ? voter.row.consecutive_valid + 1 : 0;
    voter.row.failed_in_a_row = right ? 0 : voter.row.failed_in_a_row + 1;
    ++(right ? voter.row.accepted : voter.row.failed);
    if (!right) ++counters["outvoted"];
    change(voter);
  }
}

Answer Pool::Impl::vote(OpenTicket& ticket, NodeEntry& node, ByteView result) {
  const VoteRow vote{ticket.row.id, node.row.id, sha256_hex(result), node.info.source};
  if (!store.add_vote(vote)) return count(Outcome::duplicate, "duplicate");
  ticket.votes.push_back(vote);
  if (std::ranges::count(ticket.votes, vote.hash, &VoteRow::hash) <
      ticket.task->status.spec.quorum) {
    settle(ticket);
    return count(Outcome::pending, "pending");
  }
  judge_voters(ticket, vote.hash);
  return take(ticket, node, result, true);
}

Answer Pool::Impl::take_or_vote(OpenTicket& ticket, NodeEntry& node, ByteView result,
                                bool checked) {
  const Verification verification = ticket.task->status.spec.verification;
  if (verification == Verification::quorum) return vote(ticket, node, result);
  ++node.row.accepted;
  node.row.failed_in_a_row = 0;
  if (verification == Verification::adaptive) ++node.row.consecutive_valid;
  return take(ticket, node, result, checked);
}

Answer Pool::Impl::take(OpenTicket& ticket, NodeEntry& node, ByteView result, bool checked) {
  Finished finished;
  finished.task = ticket.row.task, finished.ticket = ticket.row.id;
  finished.checked = checked, finished.node = node.row.id;
  if (result.size() > kMostInline)
    finished.blob = blobs.put(result);
  else
    finished.result.assign(result.begin(), result.end());
  finish(ticket, std::move(finished));
  return {Outcome::accepted, {}};
}

bool Pool::gave(const NodeId& node, TicketId ticket, const std::string& text) const {
  const auto token = read_token(impl_->key, node, text);
  return token && token->ticket == ticket;
}

Answer Pool::accept(const NodeId& id, const std::string& text, ByteView result) {
  Impl& pool = *impl_;
  NodeEntry& node = pool.node(id, "accept");
  const auto token = read_token(pool.key, id, text);
  if (auto refused = pool.refusal(node, token)) return *refused;
  node.row.last_seen = pool.now();
  OpenTicket* ticket = pool.ticket(token->ticket);
  if (!ticket) {
    const auto row = pool.store.ticket(token->ticket);
    if (row && row->state == TicketState::done) return pool.count(Outcome::duplicate, "duplicate");
    return pool.count(Outcome::stale, "stale");
  }
  if (pool.now() > static_cast<double>(token->expiry) ||
      ticket->task->status.state == TaskState::cancelled)
    return pool.count(Outcome::stale, "stale");
  if (ticket->voted(id, node.info.source)) {
    // Another of its source may have voted since it was given the ticket: no fault of its own.
    if (const LeaseRow* held = ticket->lease_of(id)) {
      PoolChange change(pool, false);
      pool.end_lease(*ticket, id, held->epoch);
      pool.settle(*ticket);
      change.done();
    }
    return pool.count(Outcome::duplicate, "duplicate");
  }

  const bool fits = result.size() <= ticket->row.max_result_bytes;
  const bool check = fits && pool.to_check(*ticket, node, *token);
  const bool right = !check || pool.is_right(*ticket, result);
  const LeaseRow* held = ticket->lease_of(id);
  PoolChange change(pool, true);
  pool.change(node);
  Answer answer;
  if (fits && right) {
    pool.learn(*ticket, node, *token);
    if (held) pool.end_lease(*ticket, id, held->epoch);
    answer = pool.take_or_vote(*ticket, node, result, check);
  } else if (!fits) {
    const std::string reason = message("accept", "expected at most ", ticket->row.max_result_bytes,
                                       " bytes, got ", result.size());
    answer = pool.count(Outcome::refused, "refused_size", reason);
    if (held) {
      pool.end_lease(*ticket, id, held->epoch);
      ticket->first.erase(id);
      pool.fail(*ticket, id, reason, false);
    }
  } else {
    answer = pool.count(Outcome::refused, "refused_wrong",
                        "the result of ticket " + std::to_string(token->ticket) + " is wrong");
    pool.expel(node, answer.reason, "pool");
  }
  crash_point("accept.recorded");
  change.done();
  return answer;
}

Answer Pool::give_back(const NodeId& id, const std::string& text, const std::string& error) {
  Impl& pool = *impl_;
  NodeEntry& node = pool.node(id, "give_back");
  const auto token = read_token(pool.key, id, text);
  if (auto refused = pool.refusal(node, token)) return *refused;
  node.row.last_seen = pool.now();
  if (!node.leases.contains({token->ticket, token->epoch}))
    return pool.count(Outcome::stale, "stale");
  PoolChange change(pool, false);
  OpenTicket& ticket = pool.tickets.at(token->ticket);
  pool.end_lease(ticket, id, token->epoch);
  ticket.first.erase(id);
  if (error.empty())
    pool.settle(ticket);
  else
    pool.fail(ticket, id, error, false);
  Answer answer = pool.count(Outcome::accepted, "given_back");
  change.done();
  return answer;
}

}  // namespace kaiseki::dist
