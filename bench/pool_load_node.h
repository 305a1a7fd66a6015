// SPDX-License-Identifier: MIT
// The nodes of pool_load: plain sockets that speak the pool's protocol, cheaper than real nodes.
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dist/wire/frame.h"

namespace kaiseki::dist {

constexpr const char* kVolunteerOrigin = "http://pages.example";

/// A masked binary message. The mask is 0, which leaves the bytes unchanged.
inline std::string websocket_message(ByteView frame) {
  std::string out = "\x82";
  if (frame.size() < 126) {
    out += static_cast<char>(0x80 | frame.size());
  } else if (frame.size() < 65536) {
    out += static_cast<char>(0x80 | 126);
    out += static_cast<char>(frame.size() >> 8);
    out += static_cast<char>(frame.size());
  } else {
    throw std::runtime_error("expected --bytes below 64 kB");
  }
  out.append(4, '\0');
  return out.append(as_text(frame));
}

class LoadNode {
 public:
  explicit LoadNode(uint16_t port) : port_(port) {}
  /// A volunteer without a token, from another address of the loopback network.
  LoadNode(uint16_t port, in_addr_t address) : port_(port), address_(address) {}
  ~LoadNode() { leave(); }
  LoadNode(const LoadNode&) = delete;

  // The steps of joining, in order. Many nodes can each do one step before any does the next.
  void connect() {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    if (address_ != INADDR_LOOPBACK) {
      sockaddr_in from{};
      from.sin_family = AF_INET;
      from.sin_addr.s_addr = htonl(address_);
      if (::bind(socket_, reinterpret_cast<sockaddr*>(&from), sizeof from) != 0)
        throw std::runtime_error(std::string("bind: ") + std::strerror(errno));
    }
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port_);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0)
      throw std::runtime_error(std::string("connect: ") + std::strerror(errno));
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  void upgrade() {
    write("GET /node HTTP/1.1\r\nHost: localhost:" + std::to_string(port_) +
          "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
          "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" +
          (address_ == INADDR_LOOPBACK ? std::string("Authorization: Bearer token\r\n\r\n")
                                       : "Origin: " + std::string(kVolunteerOrigin) + "\r\n\r\n"));
  }
  void say_hello() {
    while (in_.find("\r\n\r\n") == std::string::npos) fill();
    if (!in_.starts_with("HTTP/1.1 101")) throw std::runtime_error("no WebSocket: " + in_);
    in_.erase(0, in_.find("\r\n\r\n") + 4);
    Frame hello{FrameType::hello, 0, identity_};
    Json functions = Json::array();
    functions.items.emplace_back("f");
    hello.control.set("functions", functions);
    say(hello);
  }
  void hear_welcome() {
    const Frame welcome = hear();
    if (welcome.type != FrameType::welcome) throw std::runtime_error("expected a welcome");
    identity_ = welcome.control;
  }
  void leave() {
    if (socket_ >= 0) close(std::exchange(socket_, -1));
    in_.clear();
  }

  void say(const Frame& frame) { write(websocket_message(encode_frame(frame))); }
  void write(const std::string& bytes) {
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t count = ::send(socket_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (count <= 0) throw std::runtime_error("the coordinator closed a connection");
      at += static_cast<size_t>(count);
    }
  }
  bool try_write(const std::string& bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0;
  }
  /// As try_write(), but does not wait for room. Returns whether all bytes were written.
  bool write_at_once(const std::string& bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(bytes.size());
  }
  void fill() {
    char part[65536];
    const ssize_t count = ::recv(socket_, part, sizeof part, 0);
    if (count <= 0) throw std::runtime_error("the coordinator closed a connection");
    in_.append(part, static_cast<size_t>(count));
  }
  /// Returns the bytes of the next whole message if it has arrived. Skips pings.
  bool next(std::string& message) {
    for (;;) {
      if (in_.size() < 2) return false;
      size_t head = 2, size = static_cast<uint8_t>(in_[1]);
      if (size == 126) {
        if (in_.size() < 4) return false;
        head = 4;
        size = static_cast<uint8_t>(in_[2]) * 256u + static_cast<uint8_t>(in_[3]);
      }
      if (in_.size() < head + size) return false;
      const bool binary = (in_[0] & 15) == 2;
      message = in_.substr(head, size);
      in_.erase(0, head + size);
      if (binary) return true;
    }
  }
  Frame hear() {
    while (!next(message_)) fill();
    return decode_frame(as_bytes(message_));
  }
  /// Discards the received bytes. Returns whether the connection is open.
  bool discard() {
    char part[4096];
    ssize_t count = 1;
    while (count > 0) count = ::recv(socket_, part, sizeof part, MSG_DONTWAIT);
    return count < 0 && errno == EAGAIN;
  }
  int socket() const { return socket_; }

 private:
  const uint16_t port_;
  const in_addr_t address_ = INADDR_LOOPBACK;
  int socket_ = -1;
  Json identity_ = Json::object();
  std::string in_, message_;
};

using Nodes = std::vector<std::unique_ptr<LoadNode>>;

/// Joins all nodes step by step, so that the coordinator handles all of them at the same time.
inline void join(std::span<const std::unique_ptr<LoadNode>> nodes) {
  for (auto next :
       {&LoadNode::connect, &LoadNode::upgrade, &LoadNode::say_hello, &LoadNode::hear_welcome})
    for (const auto& node : nodes) ((*node).*next)();
}

inline Nodes joined(int count, uint16_t port) {
  constexpr size_t kTogether = 500;  // nodes that join at the same time
  Nodes nodes;
  for (int i = 0; i < count; ++i) nodes.push_back(std::make_unique<LoadNode>(port));
  for (size_t at = 0; at < nodes.size(); at += kTogether)
    join(std::span(nodes).subspan(at, std::min(kTogether, nodes.size() - at)));
  return nodes;
}

}  // namespace kaiseki::dist
