// SPDX-License-Identifier: MIT
// Wire: a node's WebSocket to a coordinator, with the loop that runs it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "nn/io/bytes.h"

namespace kaiseki::dist {

struct CoordinatorUrl {
  bool tls = false;
  std::string host, port;
};
/// "http://127.0.0.1:8080", https, ws or wss. Throws Error.
CoordinatorUrl parse_coordinator_url(const std::string& url);
/// An address of this machine only.
bool is_loopback(const CoordinatorUrl& url);

struct WireOptions {
  CoordinatorUrl url;
  std::string token;              // empty: none
  std::string certificates = {};  // PEM file of those that TLS trusts; empty: the system's
  /// Seconds without a sign of life, after which the other side is dead; over 10, as coordinators
  /// give one every 5 or 6.
  double silence = 60;
};

class Wire {
 public:
  explicit Wire(WireOptions options);
  ~Wire();

  // All called on run()'s thread, none after on_closed but on_open.
  std::function<void()> on_open;
  std::function<void(nn::ByteView message)> on_message;
  /// The connection is not there (any more). `code` is WebSocket's, 401 when the token is wrong,
  /// or 0.
  std::function<void(int code, const std::string& why)> on_closed;

  void connect();
  bool is_open() const;
  void send(nn::ByteVector message);
  /// What was sent still goes out.
  void close();

  /// From any thread.
  void post(std::function<void()> call);
  void after(double seconds, std::function<void()> call);
  /// Until stop().
  void run();
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::dist
