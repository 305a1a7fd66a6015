// SPDX-License-Identifier: MIT
// What all connections of a server share, and what the server does with each.
#pragma once

#include <chrono>
#include <cmath>
#include <unordered_set>

#include "dist/net/beast/asio.h"
#include "dist/net/gate.h"
#include "dist/net/server.h"
#include "dist/pool/store.h"

namespace kaiseki::dist {

class Connection;

struct Hub {
  Hub(const ServerOptions& options, Metrics& metrics, EventLog& log)
      : options(options), metrics(metrics), log(log), gate(this->options.limits, metrics) {}

  const ServerOptions options;
  Metrics& metrics;
  EventLog& log;
  Gate gate;
  Service* service = nullptr;
  std::unordered_set<Connection*> connections;
  std::unordered_set<Connection*> asleep;  // those whose body waits
  std::string scheme;                      // http or https
  bool draining = false;
  uint64_t waiting_bytes = 0;  // of all connections' output
  uint64_t input_bytes = 0;    // of all nodes' messages that are not whole

  const Limits& limits() const { return options.limits; }
  double now() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  /// Whether a request for this host, from a page of this origin, is for us.
  bool knows_host(std::string_view host) const;
  bool knows_origin(std::string_view origin, std::string_view host) const;
  bool is_full() const { return static_cast<double>(waiting_bytes) > limits().output_bytes_of_all; }
  bool holds_enough() const {
    return static_cast<double>(input_bytes) > limits().input_bytes_of_all;
  }
  /// Whose message, of those that are not whole, comes the slowest: it keeps room from the others.
  Connection* slowest() const;
};

/// An IPv4 address, or an IPv6 network of 64 bits: what one household has.
std::string network_of(const asio::ip::address& address);
/// An IPv4 address that came as one of IPv6 is that IPv4 address.
asio::ip::address unmapped(const asio::ip::address& address);

class Connection {
 public:
  Connection(Hub& hub, Gate::Seat seat, std::string address)
      : hub_(hub), seat_(std::move(seat)), address_(std::move(address)) {
    hub_.connections.insert(this);
  }
  virtual ~Connection() {
    waits(0);
    holds(0);
    hub_.connections.erase(this);
    hub_.asleep.erase(this);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  virtual std::shared_ptr<Connection> self() = 0;
  /// About once a second: what is overdue ends.
  virtual void sweep(double now) = 0;
  /// A body that waited may go on.
  virtual void wake() {}
  /// The server ends.
  virtual void drain() = 0;
  virtual void abort() = 0;
  /// Bytes a second of a message that is not whole; infinite when there is none, or it is young.
  virtual double input_rate() const { return HUGE_VAL; }
  /// It ends, so that others have room for their messages.
  virtual void give_way() {}
  /// Ends, and what the service has for it ends at once.
  virtual void finish() { abort(); }
  /// What goes wrong with one connection is the end of this one only.
  template <class Call>
  void guarded(Call call) {
    try {
      call();
    } catch (const StoreLost&) {
      throw;  // the end of all of them
    } catch (const std::exception& error) {
      failed(error);
      abort();
    }
  }

 protected:
  void failed(const std::exception& error) {
    hub_.metrics.add("connections_failed");
    hub_.log.event("error", {{"what", error.what()}});
  }
  /// So much of its output is not sent.
  void waits(uint64_t bytes) {
    hub_.waiting_bytes += bytes - waiting_bytes_;
    waiting_bytes_ = bytes;
  }
  /// So much is there of a message that is not whole.
  void holds(uint64_t bytes) {
    hub_.input_bytes += bytes - input_bytes_;
    input_bytes_ = bytes;
  }

  Hub& hub_;
  Gate::Seat seat_;
  std::string address_;
  uint64_t waiting_bytes_ = 0, input_bytes_ = 0;
};

/// Takes a new socket: TLS if need be, then requests. A proxy's requests name who they are for.
void serve_http(Hub& hub, Gate::Seat seat, std::string address, PlainStream socket, bool is_proxy);
void serve_http(Hub& hub, Gate::Seat seat, std::string address, TlsStream socket, bool is_proxy);

/// Takes a connection whose request asks for a node's WebSocket.
template <class Stream>
void serve_node(Hub& hub, Gate::Seat seat, std::string address, Stream stream,
                http::request<http::string_body> request, const HttpRequest& head);

/// Bytes that came in over a socket since it is there, and those that the other side has taken, as
/// the system counts them.
uint64_t received_bytes(int socket);
uint64_t acknowledged_bytes(int socket);

}  // namespace kaiseki::dist
