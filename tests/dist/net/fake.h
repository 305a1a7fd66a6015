// SPDX-License-Identifier: MIT
// A server that misbehaves as a test needs.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "dist/net/proof.h"
#include "tests/dist/pool/support.h"

namespace kaiseki::test {

/// A server that calls the test's function for each connection. No call waits longer than 20 s.
class Fake {
 public:
  explicit Fake(std::function<void(int socket)> serve)
      : serve_(std::move(serve)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_, 10) == 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    url = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] {
      for (int peer; (peer = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(peer)) {
        ++connections;
        const timeval longest{.tv_sec = 20, .tv_usec = 0};
        ::setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
        serve_(peer);
      }
    });
  }
  ~Fake() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  /// Reads a request's head and discards the bytes after it. Returns "" if the peer left or is
  /// silent. Answers questions for proofs, as a coordinator with these tokens does.
  static std::string head(int socket) {
    for (;;) {
      const std::string text = one_head(socket);
      const size_t nonce = text.find("/proof?nonce=");
      if (nonce == std::string::npos) return text;
      sockaddr_in own{};
      socklen_t size = sizeof own;
      ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size);
      const std::string proofs = format_proofs({"author", "token", "viewer"},
                                               {"127.0.0.1", std::to_string(ntohs(own.sin_port))},
                                               text.substr(nonce + 13, 32));
      say(socket, "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(proofs.size()) +
                      "\r\n\r\n" + proofs);
    }
  }
  static std::string one_head(int socket) {
    std::string text;
    char some[4096];
    while (!has(text, "\r\n\r\n")) {
      const ssize_t count = ::recv(socket, some, sizeof some, 0);
      if (count <= 0) return {};
      text.append(some, static_cast<size_t>(count));
    }
    return text;
  }
  static void say(int socket, const std::string& text) {
    ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
  }

  std::string url;
  std::atomic<int> connections = 0;

 private:
  const std::function<void(int)> serve_;
  const int listener_;
  std::thread thread_;
};

}  // namespace kaiseki::test
