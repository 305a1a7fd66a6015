// SPDX-License-Identifier: MIT
// Server: HTTP and WebSocket on one port, on the thread that calls run(). The limits of
// dist/net/limits.h hold for whoever connects; what requests and nodes get is the Service's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dist/net/limits.h"
#include "dist/net/log.h"
#include "dist/net/metrics.h"
#include "dist/net/service.h"

namespace kaiseki::dist {

struct ServerOptions {
  std::string host = "127.0.0.1";         // a literal address
  uint16_t port = 0;                      // 0: any that is free
  std::string certificate, key;           // PEM files; both empty: no TLS
  std::vector<std::string> names = {};    // further host names that requests may ask for
  std::vector<std::string> origins = {};  // further origins of pages, such as https://example.org
  bool trust_proxy = false;  // peers of this machine say for whom they stand: X-Forwarded-For
  Limits limits = {};
  /// Asked often; true: drain and return from run().
  std::function<bool()> stop = {};
};

class Server {
 public:
  /// Listens when it returns. Throws Error: the port is taken, the address is not a loopback one
  /// and there is no TLS, the certificate is bad.
  Server(const ServerOptions& options, Metrics& metrics, EventLog& log);
  ~Server();

  uint16_t port() const;
  /// "http://127.0.0.1:8080"
  std::string url() const;
  /// Whether pages of other origins may ask.
  bool allows_origins() const;
  /// Until stop() says so. Throws what the service throws.
  void run(Service& service);

  /// For the service, on the server's thread: runs `call` soon, after what is going on.
  void post(std::function<void()> call);
  /// Bodies that said `wait` are asked again.
  void wake();
  size_t connections() const;
  double now() const;  // seconds of a steady clock

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::dist
