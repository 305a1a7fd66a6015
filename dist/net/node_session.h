// SPDX-License-Identifier: MIT
// NodeSession: one connected node as the coordinator knows it. It reads frames and remembers what
// the node holds; the coordinator's flush() asks the pool and sends the answers.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "dist/net/rate.h"
#include "dist/net/service.h"
#include "dist/pool/types.h"

namespace kaiseki::dist {

class Coordinator;

/// What a node said and the pool has not heard yet.
struct NodeMessage {
  uint64_t session = 0;
  FrameType type = FrameType::error;  // hello, result or give_back
  NodeId node = {};
  TicketId ticket = 0;
  std::string token = {}, error = {};
  ByteVector result = {};
  uint64_t paid = 0;           // bytes of its node's ByteBudget
  NodeInfo info = {};          // of a hello
  NodeIdentity identity = {};  // of a hello that comes back
};

/// What went wrong with a ticket that the node holds.
struct FailedAttempt {
  TicketId ticket;
  std::string token, error;
};

class NodeSession final : public NodePeer {
 public:
  NodeSession(Coordinator& coordinator, NodeLink& link, uint64_t serial, bool trusted, double now);
  ~NodeSession() override;

  uint64_t largest_payload() const override;
  uint64_t payload_limit(const FrameHeader& header) const override;
  uint64_t payload_limit(const Frame& head) const override;
  bool spend(uint64_t bytes) override;
  void receive(const Frame& frame, ByteView message) override;
  void oversized(const FrameHeader* header) override;
  void tick(double now) override;

  /// Tickets that it could hold besides those that it has.
  int wanted() const;
  void welcome(const NodeIdentity& identity, std::shared_ptr<ByteBudget> budget);
  void give(const Lease& lease, const TaskSpec& task, double seconds);
  /// It does not hold the ticket any more.
  void settle(TicketId ticket);
  /// Nobody needs the ticket any more: it is to give it back, if it knows how to.
  void cancel(TicketId ticket);
  void answer(TicketId ticket, const Answer& answer);
  void drain(double seconds);
  void close(CloseCode code, const std::string& reason) { link_.close(code, reason); }

  const NodeId& node() const { return node_; }
  uint64_t serial() const { return serial_; }
  size_t held() const { return held_.size(); }
  bool replaced = false;  // another connection is the node's now

 private:
  void hello(const Frame& frame);
  void send(FrameType type, TicketId ticket, const nn::Json& control, ByteView payload = {});
  void expect_known() const;
  /// The first result of a ticket that it holds.
  bool is_wanted(const Frame& frame);

  Coordinator& coordinator_;
  NodeLink& link_;
  const uint64_t serial_;
  const bool trusted_;
  const double since_;
  NodeId node_;
  bool greeted_ = false, cancels_ = false;
  int slots_ = 0;
  struct Held {
    uint64_t most;  // bytes that its result may have
    std::string token;
    bool came = false;  // a result
  };
  std::map<TicketId, Held> held_;
  std::shared_ptr<ByteBudget> budget_;  // the node's; before it is welcome, null
};

}  // namespace kaiseki::dist
