// SPDX-License-Identifier: MIT
// Wire: a node's WebSocket to a coordinator, and its event loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/error.h"

namespace kaiseki::dist {

struct CoordinatorUrl {
  bool tls = false;
  std::string host, port;
};
/// Parses a URL such as "http://127.0.0.1:8080", with http, https, ws or wss. Throws Error.
CoordinatorUrl parse_coordinator_url(const std::string& url);
/// "host:port", as in a Host header.
std::string authority(const CoordinatorUrl& url);
/// Whether the host is a loopback address.
bool is_loopback(const CoordinatorUrl& url);

/// The coordinator rejects the token.
class WrongToken : public Error {
 public:
  using Error::Error;
};

/// TLS does not trust the coordinator's certificate.
class UntrustedCertificate : public Error {
 public:
  using Error::Error;
};

struct WireOptions {
  CoordinatorUrl url;
  std::string token;              // empty: none
  std::string certificates = {};  // PEM file that TLS trusts; empty: the system's
  /// Seconds without any byte after which the connection counts as lost. Use more than 10, as
  /// coordinators send a byte every 5 or 6 s.
  double silence = 60;
};

class Wire {
 public:
  explicit Wire(WireOptions options);
  ~Wire();

  // All are called on run()'s thread. After on_closed the next call is on_open.
  std::function<void()> on_open;
  std::function<void(ByteView message)> on_message;
  /// The connection failed or ended. `code` is the WebSocket close code, 401 if the token is wrong,
  /// or 0.
  std::function<void(int code, const std::string& why)> on_closed;

  void connect();
  bool is_open() const;
  void send(ByteVector message);
  /// Sends the pending messages first.
  void close();

  /// May be called from any thread.
  void post(std::function<void()> call);
  void after(double seconds, std::function<void()> call);
  /// Runs until stop().
  void run();
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::dist
