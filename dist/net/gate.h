// SPDX-License-Identifier: MIT
// Gate: how many connections there may be, in all and of one address.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "dist/net/limits.h"
#include "dist/net/metrics.h"
#include "dist/net/rate.h"

namespace kaiseki::dist {

class Gate {
 public:
  Gate(const Limits& limits, Metrics& metrics) : limits_(limits), metrics_(metrics) {}

  /// A place that is given back when it ends.
  class Seat {
   public:
    Seat(Gate& gate, std::string address, bool socket = true)
        : gate_(&gate), address_(std::move(address)), socket_(socket) {}
    Seat(Seat&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)),
          address_(std::move(other.address_)),
          socket_(other.socket_) {}
    Seat& operator=(Seat&& other) noexcept {
      std::swap(gate_, other.gate_);
      std::swap(address_, other.address_);
      std::swap(socket_, other.socket_);
      return *this;
    }
    ~Seat() {
      if (gate_) gate_->leave(address_, socket_);
    }

   private:
    Gate* gate_;
    std::string address_;
    bool socket_;  // a connection of its own
  };

  /// `address` is an IPv4 address, or an IPv6 network of 64 bits. Counts why there is none.
  std::optional<Seat> enter(const std::string& address, double now);
  /// For a proxy, which stands for many addresses: only the limit of all holds.
  std::optional<Seat> enter_as_proxy();
  /// For one request of a client over its proxy's connection, which has a place already: it is no
  /// new connection, however many come.
  std::optional<Seat> enter_for_request(const std::string& client, double now);
  /// Whether the address may ask now for what it measures its link with: it may measure as often as
  /// it may connect, counted apart, as a connection comes after it.
  bool measure(const std::string& address, double now);
  static constexpr int kRequests = 32;  // of one measurement, or a few less
  size_t taken() const { return taken_; }

 private:
  struct Address {
    int seats = 0;
    TokenBucket arrivals, measurements;
  };
  Address& at(const std::string& address);
  std::optional<Seat> refuse(const char* why);
  void leave(const std::string& address, bool socket);
  void forget(double now);

  const Limits& limits_;
  Metrics& metrics_;
  std::map<std::string, Address> addresses_;
  size_t taken_ = 0;
  double forgotten_ = 0;
};

}  // namespace kaiseki::dist
