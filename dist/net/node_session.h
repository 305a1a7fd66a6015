// SPDX-License-Identifier: MIT
// NodeSession: the coordinator's state of one connected node. It reads frames and records the
// tickets that the node holds. Coordinator::flush() passes messages to the pool and sends the
// answers.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "dist/net/limits.h"
#include "dist/net/metrics.h"
#include "dist/net/rate.h"
#include "dist/net/service.h"
#include "dist/pool/types.h"

namespace kaiseki::dist {

/// A message of a node that is not passed to the pool yet.
struct NodeMessage {
  uint64_t session = 0;
  FrameType type = FrameType::error;  // hello, result or give_back
  NodeId node = {};
  TicketId ticket = 0;
  std::string token = {}, error = {};
  ByteVector result = {};
  uint64_t paid = 0;           // bytes taken from the node's ByteBudget
  NodeInfo info = {};          // of a hello
  NodeIdentity identity = {};  // of a hello after a reconnection
};

/// A failed attempt of a ticket that the node holds.
struct FailedAttempt {
  TicketId ticket;
  std::string token, error;
};

class NodeSession;

/// The coordinator's interface for its sessions.
class SessionHost {
 public:
  virtual void queue_message(NodeMessage message) = 0;
  virtual void has_free_slots(NodeSession& session) = 0;
  virtual void closed(NodeSession& session) = 0;
  virtual void failed(NodeSession& session, const std::vector<FailedAttempt>& attempts) = 0;
  /// The token is of a lease of this ticket to this node, ended or not.
  virtual bool issued(const NodeId& node, TicketId ticket, const std::string& token) const = 0;
  virtual void ticket_held(const NodeSession& session, TicketId ticket) = 0;
  virtual void ticket_released(const NodeSession& session, TicketId ticket) = 0;
  /// The pool has accepted a result of the node.
  virtual bool has_contributed(const NodeId& node) const = 0;
  virtual ServerMetrics& metrics() = 0;
  virtual const Limits& limits() const = 0;
  virtual double now() const = 0;

 protected:
  ~SessionHost() = default;
};

class NodeSession final : public NodePeer {
 public:
  NodeSession(SessionHost& host, NodeLink& link, uint64_t serial, bool trusted, double now);
  ~NodeSession() override;

  uint64_t largest_payload() const override;
  uint64_t payload_limit(const FrameHeader& header) const override;
  uint64_t payload_limit(const Frame& head) const override;
  bool spend(uint64_t bytes) override;
  void receive(const Frame& frame, ByteView message) override;
  void oversized(const FrameHeader* header) override;
  void tick(double now) override;
  Standing standing() override;

  /// Returns the number of further tickets that the node may hold.
  int wanted() const;
  void welcome(const NodeIdentity& identity, std::shared_ptr<ByteBudget> budget);
  void give(const Lease& lease, const TaskSpec& task, double seconds);
  /// The node no longer holds the ticket.
  void settle(TicketId ticket);
  /// Asks the node to give the ticket back, if it knows `cancel`.
  void cancel(TicketId ticket);
  void answer(TicketId ticket, const Answer& answer);
  void drain(double seconds);
  void close(CloseCode code, const std::string& reason) { link_.close(code, reason); }

  const NodeId& node() const { return node_; }
  const std::string& address() const { return link_.address(); }
  uint64_t serial() const { return serial_; }
  size_t held() const { return held_.size(); }
  /// Whether the node had a ticket since the last call.
  bool take_worked() { return std::exchange(worked_, false) || !held_.empty(); }
  bool replaced = false;  // the node has another connection now

 private:
  void hello(const Frame& frame);
  void send(FrameType type, TicketId ticket, const Json& control, ByteView payload = {});
  void expect_known() const;
  /// The frame is the first result of a ticket that the node holds.
  bool is_wanted(const Frame& frame);

  SessionHost& host_;
  NodeLink& link_;
  const uint64_t serial_;
  const bool trusted_;
  const double since_;
  NodeId node_;
  bool greeted_ = false, worked_ = false;
  bool may_have_contributed_ = false, has_contributed_ = false;
  int slots_ = 0;
  struct Held {
    uint64_t most;  // the most bytes of its result
    std::string token;
    bool has_result = false;  // the node sent a result
  };
  std::map<TicketId, Held> held_;
  std::shared_ptr<ByteBudget> budget_;  // of the node; null before the welcome
};

}  // namespace kaiseki::dist
