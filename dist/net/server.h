// SPDX-License-Identifier: MIT
// Server: HTTP and WebSocket on one port, on the thread that calls run(). It enforces the limits of
// dist/net/limits.h. The Service answers requests and nodes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "dist/net/limits.h"
#include "dist/net/log.h"
#include "dist/net/metrics.h"
#include "dist/net/service.h"

namespace kaiseki::dist {

struct ServerOptions {
  std::string host = "127.0.0.1";         // a literal address
  uint16_t port = 0;                      // 0: any free port
  std::string certificate, key;           // PEM files; both empty: no TLS
  std::vector<std::string> names = {};    // further host names that requests may ask for
  std::vector<std::string> origins = {};  // further origins of pages, such as https://example.org
  bool trust_proxy = false;  // this machine's requests name their client: X-Forwarded-For
  Limits limits = {};
  /// Called often. If it returns true, the server drains and run() returns.
  std::function<bool()> stop = {};
};

/// Options that a server cannot use.
class UnusableServer : public Error {
 public:
  enum class Option { host, certificate };
  UnusableServer(Option which, const Message& message) : Error(message), option(which) {}
  const Option option;
};

/// The network of an address as Gate counts it: an IPv4 /24, or an IPv6 /48.
std::string network_of(const std::string& address);

class Server {
 public:
  /// Binds the port, without accepting connections. Throws Error if the port is in use or the
  /// certificate is bad. Throws UnusableServer if there is no TLS and the address is not a loopback
  /// one, or an option is missing.
  Server(const ServerOptions& options, ServerMetrics& metrics, EventLog& log);
  ~Server();

  uint16_t port() const;
  /// "http://127.0.0.1:8080"
  std::string url() const;
  /// Whether pages of other origins may send requests.
  bool allows_origins() const;
  /// Accepts connections. They wait for run(). Called by the service when it is ready. Throws Error
  /// if another process listens on the port by now.
  void listen();
  /// Runs until stop() returns true. Throws the exceptions of the service.
  void run(Service& service);

  /// Runs `call` soon, on the server's thread. Called by the service.
  void post(std::function<void()> call);
  /// Asks responses that wait for data again.
  void wake();
  size_t connections() const;
  /// Seats of the Gate that are taken, and how many of them newcomers have.
  size_t seats() const;
  size_t newcomers() const;
  double now() const;  // seconds of a steady clock

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::dist
