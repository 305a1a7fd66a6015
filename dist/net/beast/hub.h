// SPDX-License-Identifier: MIT
// Hub: the state that all connections of a server share. Connection: the base class of connections.
#pragma once

#include <optional>
#include <unordered_set>

#include "base/clock.h"
#include "dist/net/beast/asio.h"
#include "dist/net/gate.h"
#include "dist/net/server.h"
#include "dist/pool/store.h"

namespace kaiseki::dist {

class Connection;

struct Hub {
  Hub(const ServerOptions& options, ServerMetrics& metrics, EventLog& log)
      : options(options),
        metrics(metrics),
        log(log),
        gate(this->options.limits, metrics),
        pings(limits().pings_of_all_per_second, limits().pings_of_all_per_second) {}

  const ServerOptions options;
  ServerMetrics& metrics;
  EventLog& log;
  Gate gate;
  TokenBucket pings;  // of all nodes without a token
  Service* service = nullptr;
  std::unordered_set<Connection*> connections;
  std::unordered_set<Connection*> asleep;  // their response waits for data
  std::string scheme;                      // http or https
  bool draining = false;
  uint64_t waiting_bytes = 0;  // bytes that wait to be sent, over all connections
  uint64_t input_bytes = 0;    // bytes of incomplete messages, over all nodes

  const Limits& limits() const { return options.limits; }
  double now() const { return steady_seconds(); }
  /// Whether the server answers requests with this Host header, or from a page of this origin.
  bool knows_host(std::string_view host) const;
  bool knows_origin(std::string_view origin, std::string_view host) const;
  bool is_full() const { return static_cast<double>(waiting_bytes) > limits().output_bytes_of_all; }
  bool holds_enough() const {
    return static_cast<double>(input_bytes) > limits().input_bytes_of_all;
  }
  /// The connection with the slowest incomplete message, or null if no input_rate() is known.
  Connection* slowest() const;
};

/// The address and the network that limits apply to.
PeerAddress source_of(const asio::ip::address& address);
/// Turns an IPv4-mapped IPv6 address into the IPv4 address.
asio::ip::address unmapped(const asio::ip::address& address);

class Connection {
 public:
  Connection(Hub& hub, Gate::Seat seat, std::string address)
      : hub_(hub), seat_(std::move(seat)), address_(std::move(address)) {
    hub_.connections.insert(this);
    seat_.on_make_way([this] { abort(); });
  }
  virtual ~Connection() {
    set_waiting_bytes(0);
    set_input_bytes(0);
    hub_.connections.erase(this);
    hub_.asleep.erase(this);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  virtual std::shared_ptr<Connection> self() = 0;
  /// Called about once a second. Ends the connection if it is overdue.
  virtual void sweep(double now) = 0;
  /// Called when a waiting response may have data.
  virtual void wake() {}
  /// Called when the server ends.
  virtual void drain() = 0;
  /// Closes the socket and gives back the seat. The handlers of the socket then get an error, and
  /// the object ends with the last of them.
  virtual void abort() = 0;
  /// Returns the bytes per second of an incomplete message. Nothing if no message is incomplete or
  /// if it has just begun.
  virtual std::optional<double> input_rate() const { return std::nullopt; }
  /// Ends the connection, so that other connections have room for their messages.
  virtual void give_way() {}
  /// Like abort(), but also ends the service's part of the connection before it returns.
  virtual void finish() { abort(); }
  /// An error in `call` ends this connection only.
  template <class Call>
  void guarded(Call call) {
    try {
      call();
    } catch (const StoreLost&) {
      throw;  // ends the server
    } catch (const std::exception& error) {
      failed(error);
      abort();
    }
  }

 protected:
  void failed(const std::exception& error) {
    hub_.metrics.add(Counter::connections_failed);
    hub_.log.event("error", {{"what", error.what()}});
  }
  /// Sets the bytes of output that are not sent yet.
  void set_waiting_bytes(uint64_t bytes) {
    hub_.waiting_bytes += bytes - waiting_bytes_;
    waiting_bytes_ = bytes;
  }
  /// Sets the bytes of the incomplete message.
  void set_input_bytes(uint64_t bytes) {
    hub_.input_bytes += bytes - input_bytes_;
    input_bytes_ = bytes;
  }

  Hub& hub_;
  Gate::Seat seat_;
  std::string address_;
  uint64_t waiting_bytes_ = 0, input_bytes_ = 0;
};

/// Serves a new socket. With TLS, the handshake comes before the requests. The requests of a proxy
/// name the client's address.
void serve_http(Hub& hub, Gate::Seat seat, std::string address, PlainStream socket, bool is_proxy);
void serve_http(Hub& hub, Gate::Seat seat, std::string address, TlsStream socket, bool is_proxy);

/// Takes a connection after a request for a node's WebSocket with a valid key.
template <class Stream>
void serve_node(Hub& hub, Gate::Seat seat, std::string address, Stream stream,
                const HttpRequest& head);

/// Bytes that a socket has received, and bytes that the peer has acknowledged, as the system counts
/// them.
uint64_t received_bytes(int socket);
uint64_t acknowledged_bytes(int socket);

}  // namespace kaiseki::dist
