// SPDX-License-Identifier: MIT
// The coordinator and its nodes: what they said since the last time goes to the pool in one
// transaction, then the answers and new tickets go out.
#include "dist/net/coordinator.h"

#include <chrono>

#include "dist/net/author.h"
#include "dist/pool/store.h"
#include "dist/train/channel.h"
#include "matrix/error.h"

namespace kaiseki::dist {
namespace {

constexpr int kVainTries = 16;      // nodes that got nothing, until the others wait as well
constexpr double kNewSeconds = 10;  // of bytes_per_second, for a node that is new
constexpr int kMostAsked = 1000;    // nodes in one turn of the server's loop
constexpr int kMostFailures = 3;    // of messages, after those of a whole transaction

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

Coordinator::Coordinator(Store& store, BlobStore& blobs, PoolOptions pool, Pages pages,
                         Server& server, Metrics& metrics, EventLog& log,
                         CoordinatorOptions options)
    : server_(server),
      metrics_(metrics),
      log_(log),
      options_(std::move(options)),
      clock_(pool.clock ? pool.clock : wall_clock),
      blobs_(blobs),
      pool_(store, blobs, observed(std::move(pool))),
      pages_(std::move(pages)),
      api_(pool_, blobs, [this] { return server_.now(); }) {}

Coordinator::~Coordinator() = default;

PoolOptions Coordinator::observed(PoolOptions options) {
  add_training(options);
  options.on_finished = [this, also = std::move(options.on_finished)](const Finished& one) {
    server_.wake();
    if (also) also(one);
  };
  options.on_unwanted = [this, also = std::move(options.on_unwanted)](TicketId ticket) {
    unwanted(ticket);
    if (also) also(ticket);
  };
  options.on_expelled = [this, also = std::move(options.on_expelled)](const Expulsion& one) {
    log_.event("node_expelled", {{"node", one.node}, {"reason", one.reason}, {"by", one.by}});
    count_refusal(one.reason);
    server_.post([this, node = one.node] { put_out(node); });  // after the verdict on its way
    if (also) also(one);
  };
  options.on_task = [this, also = std::move(options.on_task)](TaskId task) {
    server_.wake();
    if (also) also(task);
  };
  options.on_work = [this, also = std::move(options.on_work)] {
    work_ = true;
    schedule();
    if (also) also();
  };
  return options;
}

/// Training accepts a result first, and looks at it then: of what it refuses it tells the reason.
void Coordinator::count_refusal(const std::string& reason) {
  for (const auto& [says, counted] :
       {std::pair{kWrongValue, "wrong_value"}, std::pair{kWrongForm, "wrong_form"},
        std::pair{kNotFinite, "not_finite"}})
    if (reason.starts_with(says)) metrics_.refuse(counted);
}

/// Where there is no page that could ask, an Origin is anybody's invention.
std::unique_ptr<NodePeer> Coordinator::open_node(const HttpRequest& head, NodeLink& link) {
  const bool has_pages = !pages_.empty() || server_.allows_origins();
  const bool is_page = has_pages && !head.header("origin").empty();
  const bool trusted = has_bearer(head, options_.node_token);
  if (!trusted && (!is_page || !head.header("authorization").empty())) return nullptr;
  auto session = std::make_unique<NodeSession>(*this, link, ++last_serial_, trusted, server_.now());
  sessions_[session->serial()] = session.get();
  return session;
}

void Coordinator::hear(NodeMessage message) {
  heard_.push_back(std::move(message));
  schedule();
}

void Coordinator::hungry(NodeSession& session) {
  if (session.wanted() <= 0) return;
  hungry_.insert(session.serial());
  fresh_.push_back(session.serial());
  schedule();
}

void Coordinator::closed(NodeSession& session) {
  sessions_.erase(session.serial());
  hungry_.erase(session.serial());
  if (session.node().empty() || session.replaced) return;
  by_node_.erase(session.node());
  log_.event("node_left", {{"node", session.node()}});
  quietly([&] { pool_.disconnected(session.node()); });
  if (options_.on_nodes) options_.on_nodes();
}

void Coordinator::holds(const NodeSession& session, TicketId ticket) {
  holders_.emplace(ticket, session.serial());
}

void Coordinator::lets_go(const NodeSession& session, TicketId ticket) {
  holders_.erase({ticket, session.serial()});
}

void Coordinator::failed(NodeSession& session, const std::vector<FailedAttempt>& attempts) {
  quietly([&] {
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

/// Where nothing may be thrown.
void Coordinator::quietly(const std::function<void()>& calls) {
  try {
    calls();
  } catch (const StoreLost&) {
    schedule();  // the next transaction says it again
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
    throw;  // through the server's loop, to its end
  } catch (const std::exception& error) {
    metrics_.add("transactions_failed");
    log_.event("error", {{"what", error.what()}});
    return false;
  }
}

void Coordinator::flush() {
  scheduled_ = false;
  const auto heard = std::exchange(heard_, {});
  std::vector<Reply> replies;
  Given given;
  if (!stored([&] {
        for (const NodeMessage& message : heard) replies.push_back(ask(message));
        if (!draining_) lease(given);
      }))
    return hear_one_by_one(heard);
  for (size_t i = 0; i < heard.size(); ++i) send(heard[i], replies[i]);
  const double now = clock_();
  for (const auto& [to, leases] : given) {
    for (const Lease& one : leases)
      to->replaced ? take_back(*to, one) : give(*to, one, one.deadline - now);
    if (to->wanted() <= 0) hungry_.erase(to->serial());
  }
}

/// One message must not take those of others with it. Whose is not stored comes again, and says it
/// again; when the store has no room, not all are tried.
void Coordinator::hear_one_by_one(const std::vector<NodeMessage>& heard) {
  int failures = 0;
  for (const NodeMessage& message : heard) {
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
    metrics_.add("tickets_sent");
  } catch (const Error& error) {  // it does not fit into a frame
    stored([&] { pool_.give_back(to.node(), lease.token, error.what()); });
    to.settle(lease.ticket);
  }
}

/// Its node came over another connection in the same transaction.
void Coordinator::take_back(const NodeSession& from, const Lease& lease) {
  stored([&] { pool_.give_back(from.node(), lease.token); });
}

Coordinator::Reply Coordinator::ask(const NodeMessage& message) {
  if (message.type == FrameType::hello) {
    if (message.identity.id.empty()) return {{}, pool_.join(message.info)};
    if (pool_.rejoin(message.identity, message.info)) return {{}, message.identity};
    return {};
  }
  if (NodeSession* from = session(message.session)) {
    from->settle(message.ticket);
    hungry_.insert(message.session);
    fresh_.push_back(message.session);
  }
  return {message.type == FrameType::result
              ? pool_.accept(message.node, message.token, message.result)
              : pool_.give_back(message.node, message.token, message.error),
          {}};
}

void Coordinator::send(const NodeMessage& message, const Reply& reply) {
  NodeSession* to = session(message.session);
  if (message.type == FrameType::hello) {
    if (to) greet(*to, message, reply);
    return;
  }
  const Outcome outcome = reply.answer.outcome;
  if (outcome == Outcome::duplicate) metrics_.refuse("replay");
  if (outcome == Outcome::stale && message.type == FrameType::result) metrics_.refuse("stale");
  if (outcome == Outcome::refused) {
    metrics_.refuse("result");
    log_.event("result_refused", {{"node", message.node},
                                  {"ticket", std::to_string(message.ticket)},
                                  {"reason", reply.answer.reason}});
  }
  if (outcome == Outcome::accepted || outcome == Outcome::pending)  // kept over a lost connection
    if (const auto found = budgets_.find(message.node); found != budgets_.end())
      found->second->refund(message.paid);
  if (!message.error.empty()) log_failure(message.node, message.ticket, message.error);
  if (to && message.type == FrameType::result) to->answer(message.ticket, reply.answer);
}

/// One that comes back may bring results that it has kept. One that is new has not much to say,
/// and anybody may be that again and again.
std::shared_ptr<ByteBudget> Coordinator::budget_of(const NodeId& node, bool is_new) {
  std::shared_ptr<ByteBudget>& budget = budgets_[node];
  const double rate = limits().bytes_per_second, burst = 2 * limits().result_bytes;
  const double left = is_new ? std::min(burst, kNewSeconds * rate) : burst;
  if (!budget) budget = std::make_shared<ByteBudget>(rate, burst, left, now());
  return budget;
}

void Coordinator::greet(NodeSession& session, const NodeMessage& hello, const Reply& reply) {
  if (!reply.identity) {
    metrics_.refuse("node_key");
    return session.close(CloseCode::policy, "expected a node that is known and not expelled");
  }
  auto [entry, fresh] = by_node_.try_emplace(reply.identity->id, session.serial());
  if (!fresh) {
    if (NodeSession* before = this->session(entry->second)) {
      before->replaced = true;
      hungry_.erase(before->serial());
      before->close(CloseCode::policy, "the node has another connection now");
    }
    entry->second = session.serial();
  }
  log_.event(
      "node_joined",
      {{"node", reply.identity->id}, {"name", hello.info.name}, {"device", hello.info.device}});
  session.welcome(*reply.identity, budget_of(reply.identity->id, hello.identity.id.empty()));
  if (options_.on_nodes) options_.on_nodes();
  if (draining_) session.drain(options_.limits.drain_seconds);
}

void Coordinator::put_out(const NodeId& node) {
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return;
  NodeSession* one = session(found->second);
  const auto status = pool_.node(node);
  if (one && status) one->close(CloseCode::policy, std::string(kPutOut) + ": " + status->expelled);
}

/// Who answered it does not hold it any more.
void Coordinator::unwanted(TicketId ticket) {
  for (auto at = holders_.lower_bound({ticket, 0}); at != holders_.end() && at->first == ticket;
       ++at)
    if (NodeSession* one = session(at->second)) one->cancel(ticket);
}

/// Nodes that just asked come first. When there is new work, the others are asked in turn, until
/// some that might have got something did not. Until the transaction is through, they all stay
/// hungry.
void Coordinator::lease(Given& given) {
  std::set<uint64_t> asked;
  auto try_one = [&](uint64_t serial) {
    NodeSession* one = session(serial);
    const int wanted = one ? one->wanted() : 0;
    if (wanted <= 0) return hungry_.erase(serial), true;
    if (!asked.insert(serial).second) return true;
    auto leases = pool_.lease(one->node(), wanted);
    const bool found = !leases.empty();
    if (found) given.emplace_back(one, std::move(leases));
    return found;
  };
  for (uint64_t serial : std::exchange(fresh_, {})) {
    if (hungry_.count(serial)) try_one(serial);
  }
  if (std::exchange(work_, false)) {
    unasked_ = hungry_.size();
    for (const NodeId& node : pool_.waited_for())
      if (const auto at = by_node_.find(node); at != by_node_.end() && hungry_.count(at->second))
        try_one(at->second);
  }
  int vain = 0;
  for (int left = kMostAsked; left > 0 && unasked_ > 0 && !hungry_.empty(); --left, --unasked_) {
    auto next = hungry_.upper_bound(last_served_);
    if (next == hungry_.end()) next = hungry_.begin();
    last_served_ = *next;
    const NodeSession* one = session(last_served_);
    if (one && one->wanted() > 0 && !pool_.may_lease(one->node())) continue;
    vain = try_one(last_served_) ? 0 : vain + 1;
    if (vain == kVainTries) unasked_ = 1;
  }
  if (hungry_.empty()) unasked_ = 0;
  if (unasked_ > 0) schedule();
}

NodeSession* Coordinator::session(uint64_t serial) {
  const auto found = sessions_.find(serial);
  return found == sessions_.end() ? nullptr : found->second;
}

}  // namespace kaiseki::dist
