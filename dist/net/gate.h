// SPDX-License-Identifier: MIT
// Gate: limits the connections: in all, of one address and of one network. A connection begins as a
// newcomer. A token or accepted work makes it known. If a limit is reached, the idlest newcomer is
// closed, and the next arrival gets its place. Known connections keep their places. Connections
// above the rate of their address are on trial: their first request needs a token.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dist/net/limits.h"
#include "dist/net/metrics.h"
#include "dist/net/rate.h"

namespace kaiseki::dist {

/// The address and the network that a connection comes from.
struct PeerAddress {
  std::string address;  // an IPv4 address, or an IPv6 /64: one household
  std::string network;  // an IPv4 /24, or an IPv6 /48: one provider's customer
};

/// The standing of a connection's peer with the coordinator.
enum class Standing : uint8_t {
  newcomer,
  contributor,  // the pool accepted one of its results
  trusted,      // it has a token: of the author, of viewers or of nodes
};

class Gate {
 public:
  Gate(const Limits& limits, ServerMetrics& metrics) : limits_(limits), metrics_(metrics) {}
  ~Gate();
  Gate(const Gate&) = delete;

  struct Place;
  /// Owns the place of one connection. The destructor frees the place.
  class Seat {
   public:
    Seat() = default;
    explicit Seat(Place& place) : place_(&place) {}
    /// Sets the function that is called when another connection needs the place. The function must
    /// free the seat.
    void on_make_way(std::function<void()> make_way);
    /// Marks the connection as used: it becomes the least idle one.
    void touch();
    /// Does nothing if the standing is not higher than before. Proven peers get at most half of the
    /// places of each limit. Further ones remain newcomers.
    void rise(Standing standing);
    bool is_on_trial() const;

   private:
    struct GiveBack {
      void operator()(Place* place) const;
    };
    std::unique_ptr<Place, GiveBack> place_;
  };

  /// Returns nullopt if known connections have all places. Counts each refusal and each newcomer
  /// that is closed. Above the rate of its address, the connection is on trial. An address has few
  /// places for these, and the next one gets the place of the oldest. Returns nullopt if all
  /// addresses have too many of them in this second.
  /// `displaces`: the connection may replace a newcomer of its own address. Pass false for a
  /// connection that will remain a newcomer.
  std::optional<Seat> enter(const PeerAddress& source, double now, bool displaces = true);
  /// Enters the connection of a proxy of many addresses. Only the limit `sockets` applies.
  std::optional<Seat> enter_as_proxy();
  /// Enters one request of a client over a proxy's connection. That connection has its own place,
  /// so the rate of connections does not apply. Displaces newcomers of the client's address.
  std::optional<Seat> enter_for_request(const PeerAddress& client, double now);
  /// Ends the idlest newcomer. Returns false if there is none.
  bool make_way() { return make_way(Refusal::sockets); }
  /// Returns whether the address may measure its link now. The rate is that of connections, but it
  /// is counted separately.
  bool measure(const std::string& address, double now);
  static constexpr int kRequests = 32;     // maximum of one measurement
  static constexpr size_t kTrials = 8;     // places of one address
  static constexpr int kTrialRate = 1000;  // a second, of all addresses
  size_t taken() const { return taken_; }
  size_t newcomers() const { return newcomers_; }

 private:
  struct Address {
    int seats = 0, contributors = 0;
    TokenBucket arrivals, measurements;
    std::list<Place*> trials = {};  // the oldest first
  };
  struct PeerNetwork {
    int seats = 0, contributors = 0;
    std::list<Place*> newcomers = {};  // the idlest first
  };
  using Addresses = std::map<std::string, Address>;
  using Networks = std::map<std::string, PeerNetwork>;

  Address& at(const std::string& address);
  bool has_place(const PeerAddress& of, bool displaces);
  /// Makes room for another connection on trial.
  bool take_trial(Address& address, double now);
  void end_trial(Place& place);
  std::optional<Seat> refuse(Refusal why);
  std::optional<Seat> seat(const PeerAddress& source, Standing standing, bool is_socket,
                           bool on_trial = false);
  double most_of_network() const;
  /// Whether another contributor fits into the limits.
  bool has_room_to_rise(const Place& place) const;
  /// Ends the idlest newcomer of the network with the most newcomers, of `of`, or of an address.
  bool make_way(Refusal why);
  bool make_way(Refusal why, PeerNetwork& of);
  bool make_way(Refusal why, const PeerAddress& of);
  bool end(Refusal why, Place& place);
  /// Runs `changes` on the network's newcomers and updates by_newcomers_.
  template <class Change>
  void change(PeerNetwork& network, Change changes);
  void list(Place& place);
  void unlist(Place& place);
  void touch(Place& place);
  void rise(Place& place, Standing standing);
  void leave(Place* place);
  void forget(double now);

  const Limits& limits_;
  ServerMetrics& metrics_;
  TokenBucket trials_{kTrialRate, kTrialRate};
  Addresses addresses_;
  Networks networks_;
  std::map<std::pair<size_t, uint64_t>, PeerNetwork*>
      by_newcomers_;  // by number of newcomers and idleness of the first
  size_t taken_ = 0, newcomers_ = 0, contributors_ = 0;
  uint64_t uses_ = 0;
  double forgotten_ = 0;
};

}  // namespace kaiseki::dist
