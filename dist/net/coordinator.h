// SPDX-License-Identifier: MIT
// Coordinator: a pool behind a server. Nodes send the frames of docs/protocol.md on /node. Authors
// use the API of docs/openapi.yaml. It also serves blobs, pages and metrics.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "dist/net/author_api.h"
#include "dist/net/node_session.h"
#include "dist/net/node_traffic.h"
#include "dist/net/pages.h"
#include "dist/net/quarantine.h"
#include "dist/net/server.h"
#include "dist/pool/blobs.h"
#include "dist/pool/pool.h"

namespace kaiseki::dist {

struct CoordinatorOptions {
  std::string author_token;       // for the API and the metrics
  std::string viewer_token = {};  // read-only access to both; empty: no such token
  std::string node_token;         // for nodes that are not pages; they may get private data
  Limits limits = {};
  bool short_addresses = false;  // the log has the networks of nodes instead of their addresses
  std::filesystem::path history = {};   // file of the console's plots; empty: they are not stored
  std::function<void()> on_nodes = {};  // a node joined or left
};

/// The parts that a coordinator uses. Those behind references must outlive the coordinator.
struct CoordinatorParts {
  Store& store;
  BlobStore& blobs;
  Server& server;
  ServerMetrics& metrics;
  EventLog& log;
  Pages pages = {};
  PoolOptions pool = {};  // the coordinator calls its callbacks
};

class Coordinator final : public Service, public SessionHost {
 public:
  /// Lets the server accept connections when the pool is loaded.
  Coordinator(CoordinatorParts parts, CoordinatorOptions options);
  ~Coordinator() override;

  /// Use it on the server's thread only.
  Pool& pool() { return pool_; }

  Admission admit(const HttpRequest& head) override;
  HttpResponse answer(const HttpRequest& request) override;
  std::unique_ptr<NodePeer> open_node(const HttpRequest& head, NodeLink& link) override;
  void tick(double now) override;
  void drain() override;
  bool settled() const override;

  // SessionHost
  void queue_message(NodeMessage message) override;
  void has_free_slots(NodeSession& session) override;
  void closed(NodeSession& session) override;
  void failed(NodeSession& session, const std::vector<FailedAttempt>& attempts) override;
  bool issued(const NodeId& node, TicketId ticket, const std::string& token) const override {
    return pool_.issued(node, ticket, token);
  }
  void ticket_held(const NodeSession& session, TicketId ticket) override;
  void ticket_released(const NodeSession& session, TicketId ticket) override;
  bool has_contributed(const NodeId& node) const override;
  ServerMetrics& metrics() override { return metrics_; }
  const Limits& limits() const override { return options_.limits; }
  double now() const override { return server_.now(); }

 private:
  void schedule();
  void flush();
  /// Runs the calls in one transaction. Returns false if the store discarded all of it.
  bool stored(const std::function<void()>& calls);
  void log_errors(const std::function<void()>& calls);
  void log_failure(const NodeId& node, TicketId ticket, const std::string& error);
  void store_one_by_one(const std::vector<NodeMessage>& messages);
  /// The pool's answer to a message.
  struct Reply {
    Answer answer = {};
    std::optional<NodeIdentity> identity = {};  // the answer to a hello
    double wait = 0;  // of a hello: seconds until its address may join again
  };
  Reply ask(const NodeMessage& message);
  void send(const NodeMessage& message, const Reply& reply);
  std::shared_ptr<ByteBudget> add_record(const NodeSession& session, const NodeMessage& hello,
                                         const NodeId& node);
  /// As it may be in the log.
  std::string shown(const std::string& address) const;
  /// A wrong token, if the request has one.
  void log_token(const HttpRequest& head, const std::string& of) const;
  /// Adds the `address` of the node.
  EventLog::Fields with_address(EventLog::Fields fields, const NodeId& node) const;
  void quarantine(const NodeId& node);
  void answer_hello(NodeSession& session, const NodeMessage& hello, const Reply& reply);
  using NewLeases = std::vector<std::pair<NodeSession*, std::vector<Lease>>>;
  void lease(NewLeases& new_leases);
  void close_expelled(const NodeId& node);
  void cancel_ticket(TicketId ticket);
  void give(NodeSession& to, const Lease& lease, double seconds);
  void skip_replaced(const Reply& reply);
  NodeSession* session(uint64_t serial);
  void tick_pool(double now);
  void measure_traffic(double seconds);
  void log_waiting_tasks();
  void load_history();
  void note_history(double now);
  void save_history();
  bool is_author(const HttpRequest& request) const;
  Admission admit(const HttpRequest& head, bool is_node, bool is_viewer);
  HttpResponse proofs(const HttpRequest& request) const;
  HttpResponse metrics_page() const;

  PoolOptions observed(PoolOptions options);

  Server& server_;
  ServerMetrics& metrics_;
  EventLog& log_;
  const CoordinatorOptions options_;
  const std::function<double()> clock_;  // the clock of the pool
  BlobStore& blobs_;
  Pool pool_;
  Pages pages_;
  History history_;
  Curves curves_;
  AuthorApi api_;

  std::map<uint64_t, NodeSession*> sessions_;
  std::unordered_map<NodeId, uint64_t> by_node_;
  struct NodeRecord {
    std::shared_ptr<ByteBudget> budget;
    std::string address;
    bool is_trusted = false;  // the node has a token
  };
  /// The record of a disconnected node is kept until its budget is full again.
  std::unordered_map<NodeId, NodeRecord> records_;
  Quarantine quarantine_;
  std::set<std::pair<TicketId, uint64_t>> holders_;  // sessions by the tickets that they hold
  std::set<uint64_t> with_free_slots_;               // sessions that may hold more tickets
  std::vector<uint64_t> newly_free_;  // sessions that got free slots since the last flush()
  uint64_t last_served_ = 0, last_serial_ = 0;
  size_t not_offered_ = 0;  // sessions with free slots that were offered no new work yet
  std::vector<NodeMessage> messages_;
  bool scheduled_ = false, draining_ = false, has_new_work_ = false;
  std::optional<double> last_tick_, last_collection_, history_saved_;
  SharedText offers_{kShownSeconds};
  NodeTraffic traffic_;
  std::set<TaskId> logged_waiting_;
};

}  // namespace kaiseki::dist
