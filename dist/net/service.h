// SPDX-License-Identifier: MIT
// Service: the interface between the server and the coordinator. The server makes all calls on its
// one thread.
#pragma once

#include <memory>

#include "dist/net/gate.h"
#include "dist/net/http.h"
#include "dist/wire/frame.h"

namespace kaiseki::dist {

/// The connection of one node.
class NodeLink {
 public:
  virtual ~NodeLink() = default;
  virtual void send(ByteVector message) = 0;
  /// Sends the messages that are still waiting, then closes.
  virtual void close(CloseCode code, const std::string& reason) = 0;
  /// The peer's IPv4 address, or its IPv6 network of 64 bits.
  virtual const std::string& address() const = 0;
};

/// Answers the messages of one node. It ends as soon as the connection begins to close, as no
/// further message is read. The link outlives it.
class NodePeer {
 public:
  virtual ~NodePeer() = default;
  /// The most payload bytes of any frame, and of this frame. A frame is judged by its header before
  /// the rest is read. A frame that takes several reads is judged again by its control part.
  virtual uint64_t largest_payload() const = 0;
  virtual uint64_t payload_limit(const FrameHeader& header) const = 0;
  virtual uint64_t payload_limit(const Frame& head) const = 0;
  /// Counts bytes of a message. Returns false if the peer had no bytes left before.
  virtual bool spend(uint64_t bytes) = 0;
  /// `message`: the bytes of the frame. Throws ParseError if the frame is invalid; the connection
  /// is then closed.
  virtual void receive(const Frame& frame, ByteView message) = 0;
  /// A payload exceeds its limit, so the connection is closed. Null: the frame's header is unknown.
  virtual void oversized(const FrameHeader* header) = 0;
  virtual void tick(double now) = 0;
  /// Called at the start, and about once a second.
  virtual Standing standing() = 0;
};

class Service {
 public:
  virtual ~Service() = default;
  /// The answer to a request's head: the most bytes of its body, or a refusal.
  struct Admission {
    uint64_t body_bytes = 0;
    std::optional<HttpResponse> refusal = {};
    bool measures = false;  // a link: the rate of the address is limited
    Standing standing = Standing::newcomer;
  };
  virtual Admission admit(const HttpRequest& head) = 0;
  virtual HttpResponse answer(const HttpRequest& request) = 0;
  /// Called for a WebSocket's request with valid Host and Origin. Returns null for a wrong token.
  virtual std::unique_ptr<NodePeer> open_node(const HttpRequest& head, NodeLink& link) = 0;
  /// Called about twenty times a second.
  virtual void tick(double now) = 0;
  /// The server ends, so no more tickets are issued. It waits a limited time for settled().
  virtual void drain() = 0;
  virtual bool settled() const = 0;
};

}  // namespace kaiseki::dist
