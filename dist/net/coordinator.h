// SPDX-License-Identifier: MIT
// Coordinator: the pool behind a server. Nodes speak the frames of docs/protocol.md on /node;
// authors use the API of docs/openapi.yaml; blobs, pages and metrics are read by whoever may.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "dist/net/author_api.h"
#include "dist/net/node_session.h"
#include "dist/net/pages.h"
#include "dist/net/server.h"
#include "dist/pool/blobs.h"
#include "dist/pool/pool.h"

namespace kaiseki::dist {

struct CoordinatorOptions {
  std::string author_token;       // of the API and of metrics
  std::string viewer_token = {};  // of both, to read only; empty: nobody has it
  std::string node_token;         // of nodes that are not pages: they are trusted with private data
  Limits limits = {};
  std::function<void()> on_nodes = {};  // one came or went
};

class Coordinator final : public Service {
 public:
  /// What `pool` says of on_finished and on_work is called as well. All must outlive it.
  Coordinator(Store& store, BlobStore& blobs, PoolOptions pool, Pages pages, Server& server,
              Metrics& metrics, EventLog& log, CoordinatorOptions options);
  ~Coordinator() override;

  /// On the server's thread only.
  Pool& pool() { return pool_; }

  Admission admit(const HttpRequest& head) override;
  HttpResponse answer(const HttpRequest& request) override;
  std::unique_ptr<NodePeer> open_node(const HttpRequest& head, NodeLink& link) override;
  void tick(double now) override;
  void drain() override;
  bool settled() const override;

  // What sessions call.
  void hear(NodeMessage message);
  void hungry(NodeSession& session);
  void closed(NodeSession& session);
  void failed(NodeSession& session, const std::vector<FailedAttempt>& attempts);
  /// The token is of a lease of this ticket to this node, ended or not.
  bool gave(const NodeId& node, TicketId ticket, const std::string& token) const {
    return pool_.gave(node, ticket, token);
  }
  void holds(const NodeSession& session, TicketId ticket);
  void lets_go(const NodeSession& session, TicketId ticket);
  Metrics& metrics() { return metrics_; }
  const Limits& limits() const { return options_.limits; }
  double now() const { return server_.now(); }

 private:
  void schedule();
  void flush();
  /// Whether the calls are in the store: one transaction. If not, nothing of it happened.
  bool stored(const std::function<void()>& calls);
  void quietly(const std::function<void()>& calls);
  void count_refusal(const std::string& reason);
  void log_failure(const NodeId& node, TicketId ticket, const std::string& error);
  void hear_one_by_one(const std::vector<NodeMessage>& heard);
  /// What the pool said to a message.
  struct Reply {
    Answer answer;
    std::optional<NodeIdentity> identity;  // to a hello
  };
  Reply ask(const NodeMessage& message);
  void send(const NodeMessage& message, const Reply& reply);
  std::shared_ptr<ByteBudget> budget_of(const NodeId& node, bool is_new);
  void greet(NodeSession& session, const NodeMessage& hello, const Reply& reply);
  using Given = std::vector<std::pair<NodeSession*, std::vector<Lease>>>;
  void lease(Given& given);
  void put_out(const NodeId& node);
  void unwanted(TicketId ticket);
  void give(NodeSession& to, const Lease& lease, double seconds);
  void take_back(const NodeSession& from, const Lease& lease);
  NodeSession* session(uint64_t serial);
  void say_what_waits();
  bool is_author(const HttpRequest& request) const;
  HttpResponse metrics_page() const;

  PoolOptions observed(PoolOptions options);

  Server& server_;
  Metrics& metrics_;
  EventLog& log_;
  const CoordinatorOptions options_;
  const std::function<double()> clock_;  // the pool's
  BlobStore& blobs_;
  Pool pool_;
  Pages pages_;
  AuthorApi api_;

  std::map<uint64_t, NodeSession*> sessions_;
  std::unordered_map<NodeId, uint64_t> by_node_;
  /// Of nodes that are away, too, until they are full.
  std::unordered_map<NodeId, std::shared_ptr<ByteBudget>> budgets_;
  std::set<std::pair<TicketId, uint64_t>> holders_;  // sessions by what they hold
  std::set<uint64_t> hungry_;                        // may hold more tickets
  std::vector<uint64_t> fresh_;                      // those who said so since the last time
  uint64_t last_served_ = 0, last_serial_ = 0;
  size_t unasked_ = 0;  // of the hungry ones, since there was work
  std::vector<NodeMessage> heard_;
  bool scheduled_ = false, draining_ = false, work_ = false;
  double last_tick_ = 0, last_collection_ = 0;
  SharedText offers_{kShownSeconds};
  std::set<TaskId> said_to_wait_;
};

}  // namespace kaiseki::dist
