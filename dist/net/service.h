// SPDX-License-Identifier: MIT
// What the server asks of the coordinator, and what it gives it: requests, nodes, time. All calls
// come from the server's one thread.
#pragma once

#include <memory>

#include "dist/net/http.h"
#include "dist/wire/frame.h"

namespace kaiseki::dist {

/// Close codes of WebSocket (RFC 6455 section 7.4.1) that we send.
enum class CloseCode : uint16_t {
  going_away = 1001,
  protocol = 1002,
  text = 1003,
  policy = 1008,
  too_big = 1009,
  internal = 1011,
  try_later = 1013,
};

/// One node's connection.
class NodeLink {
 public:
  virtual ~NodeLink() = default;
  virtual void send(nn::ByteVector message) = 0;
  /// What was sent before still goes out.
  virtual void close(CloseCode code, const std::string& reason) = 0;
  /// The peer's IPv4 address, or its IPv6 network of 64 bits.
  virtual const std::string& address() const = 0;
};

/// Who answers on a node's connection, and ends with it: then the link is not there any more.
class NodePeer {
 public:
  virtual ~NodePeer() = default;
  /// Payload bytes that no frame may pass, and that this frame may not: judged by its header before
  /// the rest is read, and again by its control part, where it is longer than one read.
  virtual uint64_t largest_payload() const = 0;
  virtual uint64_t payload_limit(const FrameHeader& header) const = 0;
  virtual uint64_t payload_limit(const Frame& head) const = 0;
  /// So many bytes of a message came. False when it was more than the peer had left before.
  virtual bool spend(uint64_t bytes) = 0;
  /// `message`: the bytes that the frame was read from. Throws ParseError when the frame makes no
  /// sense: the connection is then closed.
  virtual void receive(const Frame& frame, nn::ByteView message) = 0;
  /// A payload was over its limit, and the connection ends for it. Null: not even its header came.
  virtual void oversized(const FrameHeader* header) = 0;
  virtual void tick(double now) = 0;
};

class Service {
 public:
  virtual ~Service() = default;
  /// Called with a request's head: bytes of body that may follow, or the answer right away.
  struct Admission {
    uint64_t body_bytes = 0;
    std::optional<HttpResponse> refusal = {};
    bool measures = false;  // a link, which its address may only so often
  };
  virtual Admission admit(const HttpRequest& head) = 0;
  virtual HttpResponse answer(const HttpRequest& request) = 0;
  /// A WebSocket's request whose Host and Origin are fine. Null: the token is not.
  virtual std::unique_ptr<NodePeer> open_node(const HttpRequest& head, NodeLink& link) = 0;
  /// About four times a second.
  virtual void tick(double now) = 0;
  /// The server is to end: no more work goes out. Done when settled() says so, or after a while.
  virtual void drain() = 0;
  virtual bool settled() const = 0;
};

}  // namespace kaiseki::dist
