// SPDX-License-Identifier: MIT
// The coordinator and its nodes. flush() passes the nodes' messages to the pool in one transaction.
// Then it sends the answers and new tickets.
#include "dist/net/coordinator.h"

#include <cmath>

#include "base/clock.h"
#include "base/error.h"
#include "dist/net/author.h"
#include "dist/pool/store.h"

namespace kaiseki::dist {
namespace {

constexpr int kMaxMisses = 16;      // nodes without a lease in a row, then the others are not asked
constexpr double kNewSeconds = 10;  // a new node's budget, in seconds of bytes_per_second
constexpr int kMostAsked = 1000;    // nodes per turn of the server's loop
constexpr int kMostFailures = 3;    // single messages that may fail after a failed transaction

}  // namespace

Coordinator::Coordinator(CoordinatorParts parts, CoordinatorOptions options)
    : server_(parts.server),
      metrics_(parts.metrics),
      log_(parts.log),
      options_(std::move(options)),
      clock_(parts.pool.clock ? parts.pool.clock : system_seconds),
      blobs_(parts.blobs),
      pool_(parts.store, parts.blobs, observed(std::move(parts.pool))),
      pages_(std::move(parts.pages)),
      api_(pool_, blobs_, history_, curves_, [this] { return server_.now(); }) {
  load_history();
  server_.listen();
}

Coordinator::~Coordinator() { save_history(); }

PoolOptions Coordinator::observed(PoolOptions options) {
  add_author_functions(options);
  options.on_finished = [this, also = std::move(options.on_finished)](const Finished& one) {
    server_.wake();
    if (also) also(one);
  };
  options.on_unwanted = [this, also = std::move(options.on_unwanted)](TicketId ticket) {
    cancel_ticket(ticket);
    if (also) also(ticket);
  };
  options.on_expelled = [this, also = std::move(options.on_expelled)](const Expulsion& one) {
    const std::string by = one.by == Expulsion::By::pool ? "pool" : "author";
    log_.security(
        "node_expelled",
        with_address({{"node", one.node}, {"reason", one.reason.text()}, {"by", by}}, one.node));
    if (const auto refusal = refusal_of(one.reason.kind)) metrics_.refuse(*refusal);
    quarantine(one.node);
    server_.post([this, node = one.node] { close_expelled(node); });  // after the verdict was sent
    if (also) also(one);
  };
  options.on_task = [this, also = std::move(options.on_task)](TaskId task) {
    server_.wake();
    if (also) also(task);
  };
  options.on_work = [this, also = std::move(options.on_work)] {
    has_new_work_ = true;
    schedule();
    if (also) also();
  };
  return options;
}

/// If there are no pages, any program could have invented the Origin header, so it is ignored.
std::unique_ptr<NodePeer> Coordinator::open_node(const HttpRequest& head, NodeLink& link) {
  const bool has_pages = !pages_.empty() || server_.allows_origins();
  const bool is_page = has_pages && !head.header("origin").empty();
  const bool trusted = has_bearer(head, options_.node_token);
  if (!trusted && (!is_page || !head.header("authorization").empty())) {
    log_token(head, "node");
    return nullptr;
  }
  auto session = std::make_unique<NodeSession>(*this, link, ++last_serial_, trusted, server_.now());
  sessions_[session->serial()] = session.get();
  return session;
}

void Coordinator::queue_message(NodeMessage message) {
  messages_.push_back(std::move(message));
  schedule();
}

void Coordinator::has_free_slots(NodeSession& session) {
  if (session.wanted() <= 0) return;
  with_free_slots_.insert(session.serial());
  newly_free_.push_back(session.serial());
  schedule();
}

void Coordinator::closed(NodeSession& session) {
  sessions_.erase(session.serial());
  with_free_slots_.erase(session.serial());
  if (session.node().empty() || session.replaced) return;
  by_node_.erase(session.node());
  log_.event("node_left", {{"node", session.node()}});
  // If the coordinator ends, the leases that are left are no failures of the node: the next start
  // ends them.
  if (!draining_) log_errors([&] { pool_.disconnected(session.node()); });
  if (options_.on_nodes) options_.on_nodes();
}

void Coordinator::ticket_held(const NodeSession& session, TicketId ticket) {
  holders_.emplace(ticket, session.serial());
}

void Coordinator::ticket_released(const NodeSession& session, TicketId ticket) {
  holders_.erase({ticket, session.serial()});
}

bool Coordinator::has_contributed(const NodeId& node) const {
  const auto status = pool_.node(node);
  return status && status->accepted > 0;
}

void Coordinator::failed(NodeSession& session, const std::vector<FailedAttempt>& attempts) {
  log_errors([&] {
    pool_.batch([&] {
      for (const FailedAttempt& one : attempts)
        pool_.give_back(session.node(), one.token, one.error);
    });
  });
  for (const FailedAttempt& one : attempts) {
    session.settle(one.ticket);
    log_failure(session.node(), one.ticket, one.error);
  }
}

void Coordinator::log_failure(const NodeId& node, TicketId ticket, const std::string& error) {
  log_.event("ticket_failed",
             {{"node", node}, {"ticket", std::to_string(ticket)}, {"error", error}});
}

/// For callers that must not throw.
void Coordinator::log_errors(const std::function<void()>& calls) {
  try {
    calls();
  } catch (const StoreLost&) {
    schedule();  // the next transaction throws it again
  } catch (const std::exception& error) {
    log_.event("error", {{"what", error.what()}});
  }
}

void Coordinator::schedule() {
  if (std::exchange(scheduled_, true)) return;
  server_.post([this] { flush(); });
}

bool Coordinator::stored(const std::function<void()>& calls) {
  try {
    pool_.batch(calls);
    return true;
  } catch (const StoreLost&) {
    throw;  // ends the server's loop
  } catch (const std::exception& error) {
    metrics_.add(Counter::transactions_failed);
    log_.event("error", {{"what", error.what()}});
    return false;
  }
}

void Coordinator::flush() {
  scheduled_ = false;
  const auto messages = std::exchange(messages_, {});
  std::vector<Reply> replies;
  NewLeases new_leases;
  if (!stored([&] {
        for (const NodeMessage& message : messages) replies.push_back(ask(message));
        for (const Reply& reply : replies) skip_replaced(reply);
        if (!draining_) lease(new_leases);
      }))
    return store_one_by_one(messages);
  for (size_t i = 0; i < messages.size(); ++i) send(messages[i], replies[i]);
  const double now = clock_();
  for (const auto& [to, leases] : new_leases) {
    for (const Lease& one : leases) give(*to, one, one.deadline - now);
    if (to->wanted() <= 0) with_free_slots_.erase(to->serial());
  }
}

/// One message must not make the messages of other nodes fail. A node with a failed message
/// reconnects and sends it again. If the store is full, only the first messages are tried.
void Coordinator::store_one_by_one(const std::vector<NodeMessage>& messages) {
  int failures = 0;
  for (const NodeMessage& message : messages) {
    Reply reply;
    if (failures < kMostFailures && stored([&] { reply = ask(message); })) {
      send(message, reply);
    } else {
      ++failures;
      if (NodeSession* from = session(message.session))
        from->close(CloseCode::try_later, "the coordinator cannot store results now");
    }
  }
}

void Coordinator::give(NodeSession& to, const Lease& lease, double seconds) {
  try {
    to.give(lease, pool_.task(lease.task).spec, seconds);
    metrics_.add(Counter::tickets_sent);
  } catch (const Error& error) {  // the ticket does not fit into a frame
    stored([&] { pool_.give_back(to.node(), lease.token, error.what()); });
    to.settle(lease.ticket);
  }
}

/// The session of a node that reconnects gets no more tickets.
void Coordinator::skip_replaced(const Reply& reply) {
  if (!reply.identity) return;
  if (const auto before = by_node_.find(reply.identity->id); before != by_node_.end())
    with_free_slots_.erase(before->second);
}

Coordinator::Reply Coordinator::ask(const NodeMessage& message) {
  if (message.type == FrameType::hello) {
    if (message.identity.id.empty()) {
      const double wait = quarantine_.wait(message.info.source, now());
      return wait > 0 ? Reply{.wait = wait} : Reply{.identity = pool_.join(message.info)};
    }
    if (pool_.rejoin(message.identity, message.info)) return {{}, message.identity};
    return {};
  }
  if (NodeSession* from = session(message.session)) {
    from->settle(message.ticket);
    with_free_slots_.insert(message.session);
    newly_free_.push_back(message.session);
  }
  if (message.type == FrameType::result)
    return {.answer = pool_.accept(message.node, message.token, message.result)};
  if (draining_ && message.error.empty())
    return {.answer = pool_.take_back(message.node, message.token)};
  return {.answer = pool_.give_back(message.node, message.token, message.error)};
}

void Coordinator::send(const NodeMessage& message, const Reply& reply) {
  NodeSession* to = session(message.session);
  if (message.type == FrameType::hello) {
    if (to) answer_hello(*to, message, reply);
    return;
  }
  const Outcome outcome = reply.answer.outcome;
  if (outcome == Outcome::duplicate) metrics_.refuse(Refusal::replay);
  if (outcome == Outcome::stale && message.type == FrameType::result)
    metrics_.refuse(Refusal::stale);
  if (outcome == Outcome::refused) {
    metrics_.refuse(Refusal::result);
    const auto found = records_.find(message.node);
    log_.security("result_refused",
                  with_address({{"node", message.node},
                                {"ticket", std::to_string(message.ticket)},
                                {"reason", reply.answer.reason}},
                               message.node),
                  found == records_.end() ? std::string() : found->second.address);
  }
  if (outcome == Outcome::accepted ||
      outcome == Outcome::pending)  // the node may have kept the result over a lost connection
    if (const auto found = records_.find(message.node); found != records_.end())
      found->second.budget->refund(message.paid);
  if (!message.error.empty()) log_failure(message.node, message.ticket, message.error);
  if (to && message.type == FrameType::result) to->answer(message.ticket, reply.answer);
}

/// A returning node may send results that it kept. A new node gets a small budget, as a peer can
/// join as a new node many times.
std::shared_ptr<ByteBudget> Coordinator::add_record(const NodeSession& session,
                                                    const NodeMessage& hello, const NodeId& node) {
  NodeRecord& record = records_[node];
  record.address = session.address();
  record.is_trusted = hello.info.trusted;
  const double rate = limits().bytes_per_second, burst = 2 * limits().result_bytes;
  const double left = hello.identity.id.empty() ? std::min(burst, kNewSeconds * rate) : burst;
  if (!record.budget) record.budget = std::make_shared<ByteBudget>(rate, burst, left, now());
  return record.budget;
}

EventLog::Fields Coordinator::with_address(EventLog::Fields fields, const NodeId& node) const {
  if (const auto found = records_.find(node); found != records_.end())
    fields.emplace_back("address", shown(found->second.address));
  return fields;
}

std::string Coordinator::shown(const std::string& address) const {
  return options_.short_addresses ? network_of(address) : address;
}

void Coordinator::quarantine(const NodeId& node) {
  const auto found = records_.find(node);
  if (found != records_.end() && !found->second.is_trusted)
    quarantine_.expelled(found->second.address, now());
}

void Coordinator::answer_hello(NodeSession& session, const NodeMessage& hello, const Reply& reply) {
  if (reply.wait > 0) {
    metrics_.refuse(Refusal::expelled_address);
    log_.security("address_refused",
                  {{"name", hello.info.name}, {"address", shown(session.address())}},
                  session.address());
    const auto minutes = static_cast<int64_t>(std::ceil(reply.wait / 60));
    return session.close(CloseCode::try_later,
                         "a node of this address was expelled; other nodes may join in " +
                             std::to_string(minutes) + " min");
  }
  if (!reply.identity) {
    metrics_.refuse(Refusal::node_key);
    log_.security("key_refused",
                  {{"node", hello.identity.id}, {"address", shown(session.address())}},
                  session.address());
    return session.close(CloseCode::policy, "expected a node that is known and not expelled");
  }
  auto [entry, fresh] = by_node_.try_emplace(reply.identity->id, session.serial());
  if (!fresh) {
    if (NodeSession* before = this->session(entry->second)) {
      before->replaced = true;
      with_free_slots_.erase(before->serial());
      before->close(CloseCode::policy, "the node has another connection now");
    }
    entry->second = session.serial();
  }
  const NodeId& node = reply.identity->id;
  const auto budget = add_record(session, hello, node);
  log_.event("node_joined",
             with_address(
                 {{"node", node}, {"name", hello.info.name}, {"device", hello.info.device}}, node));
  session.welcome(*reply.identity, budget);
  if (options_.on_nodes) options_.on_nodes();
  if (draining_) session.drain(options_.limits.drain_seconds);
}

void Coordinator::close_expelled(const NodeId& node) {
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return;
  NodeSession* one = session(found->second);
  const auto status = pool_.node(node);
  if (one && status) one->close(CloseCode::expelled, status->expelled);
}

/// Nodes that answered the ticket no longer hold it.
void Coordinator::cancel_ticket(TicketId ticket) {
  for (auto at = holders_.lower_bound({ticket, 0}); at != holders_.end() && at->first == ticket;
       ++at)
    if (NodeSession* one = session(at->second)) one->cancel(ticket);
}

/// Sessions that just asked come first. If there is new work, the others are asked in turn, until
/// kMaxMisses of them in a row got nothing. A session keeps its place in the set until the
/// transaction is committed.
void Coordinator::lease(NewLeases& new_leases) {
  std::set<uint64_t> asked;
  auto try_one = [&](uint64_t serial) {
    NodeSession* one = session(serial);
    const int wanted = one ? one->wanted() : 0;
    if (wanted <= 0) return with_free_slots_.erase(serial), true;
    if (!asked.insert(serial).second) return true;
    auto leases = pool_.lease(one->node(), wanted);
    const bool found = !leases.empty();
    if (found) new_leases.emplace_back(one, std::move(leases));
    return found;
  };
  for (uint64_t serial : std::exchange(newly_free_, {})) {
    if (with_free_slots_.count(serial)) try_one(serial);
  }
  if (std::exchange(has_new_work_, false)) {
    not_offered_ = with_free_slots_.size();
    for (const NodeId& node : pool_.preferred_idle_nodes())
      if (const auto at = by_node_.find(node);
          at != by_node_.end() && with_free_slots_.count(at->second))
        try_one(at->second);
  }
  int misses = 0;
  for (int left = kMostAsked; left > 0 && not_offered_ > 0 && !with_free_slots_.empty();
       --left, --not_offered_) {
    auto next = with_free_slots_.upper_bound(last_served_);
    if (next == with_free_slots_.end()) next = with_free_slots_.begin();
    last_served_ = *next;
    const NodeSession* one = session(last_served_);
    if (one && one->wanted() > 0 && !pool_.ask_to_lease(one->node())) continue;
    misses = try_one(last_served_) ? 0 : misses + 1;
    if (misses == kMaxMisses) not_offered_ = 1;
  }
  if (with_free_slots_.empty()) not_offered_ = 0;
  if (not_offered_ > 0) schedule();
}

NodeSession* Coordinator::session(uint64_t serial) {
  const auto found = sessions_.find(serial);
  return found == sessions_.end() ? nullptr : found->second;
}

}  // namespace kaiseki::dist
