// SPDX-License-Identifier: MIT
// Gate and the rates, with a simulated clock.
#include "dist/net/gate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

using namespace kaiseki::dist;

namespace {

/// Connections that a gate admitted, in the order of their arrival.
struct Door {
  explicit Door(double sockets, double per_address, double per_network = 1000) {
    limits.sockets = sockets;
    limits.sockets_per_address = per_address;
    limits.sockets_per_network = per_network;
    limits.connections_per_second = 1;
  }
  /// "a.1" is address a.1 in network a. Returns false if the gate refuses it.
  bool enter(const std::string& address) {
    auto seat = gate.enter({address, address.substr(0, address.find('.'))}, now += 1000);
    if (!seat) return false;
    const size_t at = seats.size();
    seats.push_back(std::move(*seat));
    seats[at].on_make_way([this, at] {
      ended.push_back(at);
      seats[at] = {};
    });
    return true;
  }
  uint64_t refused(Refusal reason) const { return metrics.refused(reason); }

  Limits limits;
  ServerMetrics metrics;
  Gate gate{limits, metrics};
  std::deque<Gate::Seat> seats;
  std::vector<size_t> ended;
  double now = 0;
};

using Ended = std::vector<size_t>;

}  // namespace

TEST_CASE("gate: a full address ends its idlest newcomer, not newcomers of other addresses") {
  Door door(100, 3);
  for (const char* address : {"b.1", "a.1", "a.1", "a.1"}) CHECK(door.enter(address));
  CHECK(door.enter("a.1"));
  CHECK(door.ended == Ended{1});
  door.seats[2].touch();
  CHECK(door.enter("a.1"));
  CHECK(door.ended == Ended{1, 3});
  CHECK_FALSE(door.gate.enter({"a.1", "a"}, door.now += 1000, false));
  CHECK(door.gate.enter({"a.2", "a"}, door.now, false));
  CHECK(door.refused(Refusal::sockets_per_address) == 3);
  CHECK(door.gate.taken() == 4);
  CHECK(door.gate.newcomers() == 4);
  door.seats.clear();
  CHECK(door.gate.taken() == 0);
  CHECK(door.gate.newcomers() == 0);
}

TEST_CASE("gate: a full network ends its idlest newcomer; known connections do not count") {
  Door door(100, 2, 3);
  for (const char* address : {"b.1", "a.1", "a.2", "a.3"}) CHECK(door.enter(address));
  door.seats[1].rise(Standing::trusted);
  CHECK(door.enter("a.4"));
  CHECK(door.ended.empty());
  CHECK(door.enter("a.5"));
  CHECK(door.ended == Ended{2});
  CHECK(door.refused(Refusal::sockets_per_network) == 1);
  door.limits.sockets_per_address = 4;  // applies to the network too
  CHECK(door.enter("a.6"));
  CHECK(door.refused(Refusal::sockets_per_network) == 1);
}

TEST_CASE("gate: if all places are taken, a newcomer of the network with the most makes way") {
  Door door(5, 10);
  for (const char* address : {"c.1", "a.1", "b.1", "b.1", "b.2"}) CHECK(door.enter(address));
  CHECK(door.enter("d.1"));
  CHECK(door.ended == Ended{2});
  CHECK(door.enter("d.1"));
  CHECK(door.ended == Ended{2, 3});
  CHECK(door.refused(Refusal::sockets) == 2);
  CHECK(door.gate.taken() == 5);
}

TEST_CASE("gate: known connections stay, and contributors get at most half of each limit") {
  Door door(4, 4);
  for (const char* address : {"a.1", "b.1", "c.1", "d.1"}) CHECK(door.enter(address));
  for (Gate::Seat& seat : door.seats) seat.rise(Standing::contributor);
  CHECK(door.gate.newcomers() == 2);
  for (const char* address : {"e.1", "f.1", "g.1", "h.1"}) CHECK(door.enter(address));
  CHECK(door.ended == Ended{2, 3, 4, 5});  // all networks have as many, so the idlest ends
  door.seats[6].rise(Standing::trusted);
  door.seats[7].rise(Standing::trusted);
  CHECK_FALSE(door.enter("i.1"));
  CHECK_FALSE(door.gate.make_way());
  CHECK_FALSE(door.gate.enter_as_proxy());
  door.seats[0] = {};
  CHECK(door.enter("i.1"));
  door.seats[8].rise(Standing::contributor);  // the place of a connection that left
  CHECK(door.gate.newcomers() == 0);
  door.seats.clear();
  CHECK(door.gate.taken() == 0);
}

TEST_CASE("gate: contributors get at most half of an address and of a network") {
  Door door(100, 4, 4);
  for (int i = 0; i < 4; ++i) CHECK(door.enter("a.1"));
  for (Gate::Seat& seat : door.seats) seat.rise(Standing::contributor);
  CHECK(door.gate.newcomers() == 2);
  CHECK(door.enter("a.2"));
  door.seats[4].rise(Standing::contributor);
  CHECK(door.gate.newcomers() == 3);
  CHECK(door.enter("b.2"));
  door.seats[5].rise(Standing::contributor);
  CHECK(door.gate.newcomers() == 3);
  door.seats[0].rise(Standing::trusted);
  door.seats[4].rise(Standing::contributor);
  CHECK(door.gate.newcomers() == 2);
}

TEST_CASE("gate: above the connection rate of an address, connections are on trial") {
  Limits limits;
  limits.sockets_per_address = 4;
  limits.connections_per_second = 2;
  ServerMetrics metrics;
  Gate gate(limits, metrics);
  const PeerAddress a{"a", "a"}, b{"b", "b"};
  const auto is_on_trial = [&](const PeerAddress& source, double now) {
    const auto seat = gate.enter(source, now);  // it leaves at once
    return !seat || seat->is_on_trial();
  };
  for (int i = 0; i < 4; ++i) CHECK_FALSE(is_on_trial(a, 50));
  CHECK(is_on_trial(a, 50));
  CHECK_FALSE(is_on_trial(b, 50));
  CHECK_FALSE(is_on_trial(a, 50.5));
  CHECK(is_on_trial(a, 50.6));
  for (int i = 0; i < 4; ++i) CHECK_FALSE(is_on_trial(a, 1000));
}

TEST_CASE("gate: a token gets a place beside any number of connections of its address") {
  Door door(100, 20);
  door.limits.connections_per_second = 1e-9;
  for (int i = 0; i < 20; ++i) CHECK(door.enter("a.1"));
  for (int i = 0; i < 500; ++i) CHECK(door.enter("a.1"));
  CHECK(door.gate.taken() == 20);
  CHECK(door.ended[7] == 7);   // newcomers make way for the first places on trial
  CHECK(door.ended[8] == 20);  // then only the oldest on trial do
  CHECK(door.ended.back() == 511);
  CHECK(door.seats[519].is_on_trial());
  door.seats[519].rise(Standing::trusted);
  CHECK_FALSE(door.seats[519].is_on_trial());
  for (int i = 0; i < 500; ++i) CHECK(door.enter("a.1"));
  CHECK(std::ranges::count(door.ended, 519) == 0);
  CHECK(door.enter("b.1"));
  CHECK_FALSE(door.seats.back().is_on_trial());
}

TEST_CASE("gate: the connections on trial of all addresses have a rate") {
  Limits limits;
  limits.sockets_per_address = 1;
  ServerMetrics metrics;
  Gate gate(limits, metrics);
  int admitted = 0;
  for (int i = 0; i < 20; ++i)
    for (int k = 0; k < 100; ++k) admitted += gate.enter({std::to_string(i), "a"}, 50).has_value();
  CHECK(admitted == 20 + Gate::kTrialRate);
  CHECK(metrics.refused(Refusal::connection_rate) == 980);
  CHECK(gate.enter({"1", "a"}, 50.05)->is_on_trial());
}

TEST_CASE("gate: requests of a proxy's clients do not count as connections") {
  Limits limits;
  limits.sockets = 5;
  limits.sockets_per_address = 2;
  limits.connections_per_second = 1;
  ServerMetrics metrics;
  Gate gate(limits, metrics);
  const auto proxy = gate.enter_as_proxy();
  const PeerAddress a{"a", "a"}, b{"b", "b"};
  for (int i = 0; i < 1000; ++i) CHECK(gate.enter_for_request(a, 0));
  CHECK(gate.taken() == 1);
  auto first = gate.enter_for_request(a, 0), second = gate.enter_for_request(a, 0);
  CHECK_FALSE(gate.enter_for_request(a, 0));
  CHECK(metrics.refused(Refusal::sockets_per_address) == 1);
  CHECK(gate.enter_for_request(b, 0));
  first.reset();
  CHECK(gate.enter_for_request(a, 0));
  auto moved = std::move(second);
  second = gate.enter(a, 0);  // a connection
  CHECK(second);
  CHECK(gate.taken() == 2);
  CHECK(metrics.refused(Refusal::connection_rate) == 0);
}

TEST_CASE("gate: the rate of link measurements equals the connection rate, counted separately") {
  Limits limits;
  limits.sockets_per_address = 3;
  limits.connections_per_second = 2;
  ServerMetrics metrics;
  Gate gate(limits, metrics);
  const auto measures = [&](const char* address, double now) {
    int requests = 0;
    while (requests < Gate::kRequests && gate.measure(address, now)) ++requests;
    return requests == Gate::kRequests;
  };
  for (int i = 0; i < 3; ++i) CHECK(measures("a", 50));
  CHECK_FALSE(gate.measure("a", 50));
  CHECK(metrics.refused(Refusal::link_rate) == 1);
  CHECK(gate.measure("b", 50));
  CHECK(gate.enter({"a", "a"}, 50));
  CHECK(measures("a", 50.5));
  CHECK_FALSE(measures("a", 50.6));
  limits.connections_per_second = 0.01 / Gate::kRequests;
  for (int i = 0; i < 3; ++i) CHECK(measures("c", 100));
  CHECK_FALSE(gate.measure("c", 120));  // the gate has not forgotten it
}

TEST_CASE("bucket: wait() returns the seconds until the next token") {
  TokenBucket bucket(4, 2);
  CHECK(bucket.take(10));
  CHECK(bucket.take(10));
  CHECK_FALSE(bucket.take(10));
  CHECK(bucket.wait(10) == doctest::Approx(0.25));
  CHECK(bucket.take(10.25));
  CHECK_FALSE(bucket.full(10.5));
  CHECK(bucket.full(11));
}

TEST_CASE("bucket: owe() returns the seconds until the token is there") {
  TokenBucket bucket(4, 2);
  CHECK(bucket.owe(10) == 0);
  CHECK(bucket.owe(10) == 0);
  CHECK(bucket.owe(10) == doctest::Approx(0.25));
  CHECK(bucket.owe(10) == doctest::Approx(0.5));
  CHECK_FALSE(bucket.take(10.5));
  CHECK(bucket.owe(11) == 0);
}

TEST_CASE("least rate: a transfer that has begun must continue") {
  LeastRate pace(1000, 10);
  CHECK(pace.keeps(5, 0));
  CHECK(pace.keeps(6, 9.9));
  CHECK(!pace.rate());
  CHECK_FALSE(pace.keeps(15, 10));
  CHECK(pace.rate() == 1);
  pace.end();
  CHECK(!pace.rate());
  CHECK(pace.keeps(15, 20));
  CHECK(pace.keeps(10015, 30));
  CHECK(pace.keeps(10015, 39));
  CHECK_FALSE(pace.keeps(20014, 40));
}

TEST_CASE("byte budget: a rate after a burst; a refund never exceeds the burst") {
  ByteBudget budget(10, 100, 50, 0);
  CHECK_FALSE(budget.is_full(0));
  CHECK(budget.spend(60, 0));  // a message that began with bytes left continues
  CHECK_FALSE(budget.spend(0, 0));
  CHECK_FALSE(budget.spend(0, 1));
  CHECK(budget.spend(0, 1.5));
  budget.refund(1000);
  CHECK(budget.is_full(1.5));
  CHECK(budget.spend(101, 1.5));
  CHECK_FALSE(budget.spend(0, 1.5));
  CHECK(budget.is_full(1000));
  CHECK(budget.spend(101, 1000));  // never more than the burst
  CHECK_FALSE(budget.spend(0, 1000));
}
