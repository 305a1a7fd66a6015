// SPDX-License-Identifier: MIT
// The nodes' side of the pool: join, lease, accept, leave; and the deadlines.
#include <algorithm>

#include "base/error.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "dist/pool/crash_point.h"
#include "dist/pool/pool.h"
#include "dist/pool/pool_impl.h"

namespace kaiseki::dist {
namespace {

Lease issue(PoolImpl& pool, PoolTicket& ticket, PoolNode& node) {
  const double now = pool.now();
  const auto held = static_cast<int64_t>(pool.leases.of_node(node.id()).size());
  const int64_t round = held / pool.timing.at_once(ticket.spec(), node) + 1;
  const LeaseRow lease{ticket.id(),
                       ticket.row().epoch + 1,
                       node.id(),
                       now,
                       now + pool.timing.limit(ticket, node, round),
                       round,
                       pool.timing.node_seconds(pool.timing.typical(ticket, node), ticket, node),
                       node.is_newcomer()};
  pool.lifecycle.issue(ticket, lease);
  TicketInput input = pool.store.input(ticket.id());
  const Token token{lease.ticket, lease.epoch, static_cast<int64_t>(now + kTokenLife)};
  return {lease.ticket,
          ticket.task().id(),
          lease.epoch,
          pool.secret.sign(node.id(), token),
          lease.deadline,
          std::move(input.input),
          std::move(input.blobs),
          ticket.row().max_result_bytes,
          ticket.row().work};
}

NodeStatus status_of(const PoolImpl& pool, const PoolNode& node) {
  NodeStatus status = node.status(pool.leases.of_node(node.id()).size());
  status.resting = std::max(0.0, pool.nodes.rests_until(node) - pool.now());
  return status;
}

/// The node, or another of its source, has voted on the ticket. Its source may have voted after the
/// node got the ticket, so this is no failure. A node that repeats its own ticket and has another
/// result has failed.
Answer accept_second_vote(PoolImpl& pool, PoolTicket& ticket, const NodeId& node, ByteView result) {
  if (const LeaseRow* held = pool.leases.find(ticket.id(), node)) {
    Change change(pool.transaction, false);
    const LeaseRow lease = pool.lifecycle.end_lease(ticket, held->epoch);
    if (pool.votes.contradicts(ticket.id(), node, sha256(result)))
      pool.lifecycle.fail(ticket, lease, "accept: the result differs from the node's earlier one",
                          false);
    else
      pool.lifecycle.settle(ticket);
    change.commit();
  }
  return pool.acceptance.count(Outcome::duplicate, PoolEvent::duplicate);
}

Answer judge(PoolImpl& pool, PoolTicket& ticket, PoolNode& node, const Token& token,
             ByteView result) {
  Acceptance& acceptance = pool.acceptance;
  const bool fits = result.size() <= ticket.row().max_result_bytes;
  const bool check = fits && acceptance.has_to_check(ticket, node, token);
  const bool right = !check || acceptance.is_right(ticket, result);
  Change change(pool.transaction, true);
  pool.nodes.change(node);
  Answer answer;
  if (!fits)
    answer = acceptance.refuse_size(ticket, node.id(), result.size());
  else if (right)
    answer = acceptance.accept(ticket, node, token, result, check);
  else
    answer = acceptance.refuse_wrong(ticket, node);
  crash_point("accept.recorded");
  change.commit();
  return answer;
}

/// Ends the lease of the token. Then calls `judge`, which settles the ticket.
template <typename Judge>
Answer end_lease(PoolImpl& pool, const NodeId& id, const std::string& text, const Judge& judge) {
  PoolNode& node = pool.nodes.get(id, "give_back");
  const auto token = pool.secret.read(id, text);
  if (auto refused = pool.acceptance.refusal(node, token)) return *refused;
  node.seen(pool.now());
  if (!pool.leases.of_node(id).contains({token->ticket, token->epoch}))
    return pool.acceptance.count(Outcome::stale, PoolEvent::stale);
  Change change(pool.transaction, false);
  PoolTicket& ticket = pool.tickets.at(token->ticket);
  const LeaseRow lease = pool.lifecycle.end_lease(ticket, token->epoch);
  pool.leases.forget_first(token->ticket, id);
  judge(ticket, lease);
  Answer answer = pool.acceptance.count(Outcome::accepted, PoolEvent::given_back);
  change.commit();
  return answer;
}

void end_overdue_leases(PoolImpl& pool, double now) {
  Change change(pool.transaction, false);
  while (const auto lease = pool.leases.overdue(now)) {
    PoolTicket& ticket = pool.tickets.at(lease->ticket);
    const PoolNode& holder = pool.nodes.get(lease->node, "pool");
    if (const auto deadline = pool.timing.extended(*lease, ticket, holder)) {
      pool.leases.extend(*lease, *deadline);
      continue;
    }
    pool.lifecycle.end_lease(ticket, lease->epoch);
    pool.accounts.count(PoolEvent::expired);
    pool.lifecycle.fail(ticket, *lease,
                        message("tick", "expected a result within ",
                                lease->deadline - lease->issued, " s, got none"),
                        true);
  }
  change.commit();
}

}  // namespace

NodeIdentity Pool::join(const NodeInfo& info) {
  PoolImpl& pool = *impl_;
  std::byte random[16];
  pool.options.random(random);
  const NodeId id = to_hex(random);
  Change change(pool.transaction, false);
  PoolNode& node = pool.nodes.add(id);
  pool.nodes.membership_changed();
  node.connect(info, pool.now());
  pool.nodes.change(node);
  pool.accounts.count(PoolEvent::joined);
  change.commit();
  return {id, pool.secret.node_key(id)};
}

bool Pool::rejoin(const NodeIdentity& identity, const NodeInfo& info) {
  PoolImpl& pool = *impl_;
  if (!pool.secret.is_key_of(identity)) {
    pool.accounts.count(PoolEvent::refused_key);
    return false;
  }
  Change change(pool.transaction, false);
  PoolNode& node = pool.nodes.find_or_add(identity.id);
  const bool welcome = !node.expelled();
  pool.nodes.membership_changed();
  if (welcome) {
    pool.lifecycle.lose_leases(node);  // of a connection that ended unnoticed
    node.connect(info, pool.now());
    pool.accounts.count(PoolEvent::rejoined);
  }
  pool.nodes.change(node);
  change.commit();
  return welcome;
}

void Pool::disconnected(const NodeId& id) {
  PoolImpl& pool = *impl_;
  PoolNode& node = pool.nodes.get(id, "disconnected");
  Change change(pool.transaction, false);
  pool.lifecycle.lose_leases(node);
  node.disconnect(pool.now());
  pool.nodes.membership_changed();
  pool.nodes.change(node);
  change.commit();
}

void Pool::expel(const NodeId& id, const ExpulsionReason& reason) {
  PoolImpl& pool = *impl_;
  if (reason.detail.empty()) throw Error(message("expel", "expected a reason, got none"));
  PoolNode& node = pool.nodes.get(id, "expel");
  Change change(pool.transaction, true);
  pool.lifecycle.expel(node, reason, Expulsion::By::author);
  change.commit();
}

bool Pool::may_have_late_tickets() const { return impl_->scheduler.may_have_late_tickets(); }

std::vector<NodeId> Pool::preferred_idle_nodes() const {
  return impl_->scheduler.preferred_nodes();
}

bool Pool::ask_to_lease(const NodeId& id) {
  PoolImpl& pool = *impl_;
  PoolNode* node = pool.nodes.find(id);
  if (!node || node->expelled()) return false;
  node->ask(pool.now());
  return pool.scheduler.may_hold(*node) && pool.scheduler.has_task_for(*node);
}

std::vector<Lease> Pool::lease(const NodeId& id, int count) {
  PoolImpl& pool = *impl_;
  PoolNode& node = pool.nodes.get(id, "lease");
  if (!node.connected())
    throw Error(message("lease", "expected a connected node, got ", id, "; call rejoin() first"));
  std::vector<Lease> leases;
  if (node.expelled()) return leases;
  node.ask(pool.now());
  Change change(pool.transaction, false);
  while (static_cast<int>(leases.size()) < count && pool.scheduler.may_hold(node)) {
    PoolTicket* ticket = pool.scheduler.pick(node);
    if (!ticket) break;
    leases.push_back(issue(pool, *ticket, node));
  }
  node.seen(pool.now());
  if (!leases.empty()) pool.nodes.change(node);
  change.commit();
  return leases;
}

bool Pool::issued(const NodeId& node, TicketId ticket, const std::string& text) const {
  const auto token = impl_->secret.read(node, text);
  return token && token->ticket == ticket;
}

Answer Pool::accept(const NodeId& id, const std::string& text, ByteView result) {
  PoolImpl& pool = *impl_;
  PoolNode& node = pool.nodes.get(id, "accept");
  const auto token = pool.secret.read(id, text);
  if (auto refused = pool.acceptance.refusal(node, token)) return *refused;
  node.seen(pool.now());
  PoolTicket* ticket = pool.lifecycle.open(token->ticket);
  if (!ticket) return pool.acceptance.ended(token->ticket);
  if (pool.now() > static_cast<double>(token->expiry) || ticket->task().is(TaskState::cancelled))
    return pool.acceptance.count(Outcome::stale, PoolEvent::stale);
  if (pool.votes.has_voted(ticket->id(), id, node.source()) &&
      !pool.acceptance.confirms_vote(*ticket, node, result))
    return accept_second_vote(pool, *ticket, id, result);
  return judge(pool, *ticket, node, *token, result);
}

Answer Pool::give_back(const NodeId& id, const std::string& text, const std::string& error) {
  PoolImpl& pool = *impl_;
  return end_lease(pool, id, text, [&](PoolTicket& ticket, const LeaseRow& lease) {
    if (error.empty())
      pool.lifecycle.give_back(ticket, lease);
    else
      pool.lifecycle.fail(ticket, lease, error, false);
  });
}

Answer Pool::take_back(const NodeId& id, const std::string& text) {
  return end_lease(*impl_, id, text,
                   [&](PoolTicket& ticket, const LeaseRow&) { impl_->lifecycle.settle(ticket); });
}

std::vector<ProjectStatus> Pool::tick() {
  PoolImpl& pool = *impl_;
  const double now = pool.now();
  if (pool.leases.overdue(now)) end_overdue_leases(pool, now);
  const bool due = std::ranges::any_of(pool.tickets.tasks(), [&](const auto& task) {
    return task.second.queue().due(now).has_value();
  });
  if (due) {
    Change change(pool.transaction, false);
    pool.reports.work_available();
    change.commit();
  }
  if (pool.garbage.is_due(now)) pool.garbage.collect(now);
  std::vector<ProjectStatus> lapsed = pool.accounts.lapsed(now);
  for (const ProjectStatus& project : lapsed) remove_project(project.id);
  return lapsed;
}

std::optional<NodeStatus> Pool::node(const NodeId& id) const {
  if (const PoolNode* node = impl_->nodes.find(id)) return status_of(*impl_, *node);
  const auto row = impl_->store.node(id);
  if (!row) return std::nullopt;
  return PoolNode(*row).status(0);
}

std::vector<NodeStatus> Pool::nodes() const {
  std::vector<NodeStatus> all;
  for (const auto& [id, node] : impl_->nodes.all()) all.push_back(status_of(*impl_, node));
  return all;
}

std::vector<NodeStatus> Pool::away(double seconds, int limit) const {
  return impl_->nodes.away(impl_->now() - seconds, limit);
}

uint64_t Pool::membership_version() const { return impl_->nodes.membership_version(); }

int64_t Pool::collect_nodes() {
  Change change(impl_->transaction, false);
  const int64_t count = impl_->nodes.collect(impl_->now());
  change.commit();
  return count;
}

}  // namespace kaiseki::dist
