// SPDX-License-Identifier: MIT
// Gates, buckets and paces, with a clock of the test's own.
#include "dist/net/gate.h"

#include <doctest/doctest.h>

#include <vector>

using namespace kaiseki::dist;

TEST_CASE("gate: places of one address, of all, and their return") {
  Limits limits;
  limits.sockets = 5;
  limits.sockets_per_address = 3;
  limits.connections_per_second = 1;
  Metrics metrics;
  Gate gate(limits, metrics);
  std::vector<Gate::Seat> seats;
  auto enter = [&](const char* address, double now) {
    auto seat = gate.enter(address, now);
    if (seat) seats.push_back(std::move(*seat));
    return seat.has_value();
  };
  for (int i = 0; i < 3; ++i) CHECK(enter("a", 0));
  CHECK_FALSE(enter("a", 100));
  CHECK(metrics.refused("sockets_per_address") == 1);
  CHECK(enter("b", 100));
  CHECK(enter("b", 100));
  CHECK_FALSE(enter("c", 100));
  CHECK(metrics.refused("sockets") == 1);
  CHECK(gate.taken() == 5);
  seats.clear();
  CHECK(gate.taken() == 0);
  CHECK(enter("a", 100));
}

TEST_CASE("gate: an address that comes too often waits, others do not") {
  Limits limits;
  limits.sockets_per_address = 4;
  limits.connections_per_second = 2;
  Metrics metrics;
  Gate gate(limits, metrics);
  for (int i = 0; i < 4; ++i) CHECK(gate.enter("a", 50));  // each leaves at once
  CHECK_FALSE(gate.enter("a", 50));
  CHECK(metrics.refused("connection_rate") == 1);
  CHECK(gate.enter("b", 50));
  CHECK(gate.enter("a", 50.5));
  CHECK_FALSE(gate.enter("a", 50.6));
  for (int i = 0; i < 4; ++i) CHECK(gate.enter("a", 1000));
}

TEST_CASE("gate: requests of a proxy's clients are no connections, however many come") {
  Limits limits;
  limits.sockets = 5;
  limits.sockets_per_address = 2;
  limits.connections_per_second = 1;
  Metrics metrics;
  Gate gate(limits, metrics);
  const auto proxy = gate.enter_as_proxy();
  for (int i = 0; i < 1000; ++i) CHECK(gate.enter_for_request("a", 0));
  CHECK(gate.taken() == 1);
  auto first = gate.enter_for_request("a", 0), second = gate.enter_for_request("a", 0);
  CHECK_FALSE(gate.enter_for_request("a", 0));
  CHECK(metrics.refused("sockets_per_address") == 1);
  CHECK(gate.enter_for_request("b", 0));
  first.reset();
  CHECK(gate.enter_for_request("a", 0));
  auto moved = std::move(second);
  second = gate.enter("a", 0);  // a connection
  CHECK(second);
  CHECK(gate.taken() == 2);
  CHECK(metrics.refused("connection_rate") == 0);
}

TEST_CASE("gate: an address measures its link as often as it may connect, besides connecting") {
  Limits limits;
  limits.sockets_per_address = 3;
  limits.connections_per_second = 2;
  Metrics metrics;
  Gate gate(limits, metrics);
  const auto measures = [&](const char* address, double now) {
    int requests = 0;
    while (requests < Gate::kRequests && gate.measure(address, now)) ++requests;
    return requests == Gate::kRequests;
  };
  for (int i = 0; i < 3; ++i) CHECK(measures("a", 50));
  CHECK_FALSE(gate.measure("a", 50));
  CHECK(metrics.refused("link_rate") == 1);
  CHECK(gate.measure("b", 50));
  CHECK(gate.enter("a", 50));
  CHECK(measures("a", 50.5));
  CHECK_FALSE(measures("a", 50.6));
  limits.connections_per_second = 0.01 / Gate::kRequests;
  for (int i = 0; i < 3; ++i) CHECK(measures("c", 100));
  CHECK_FALSE(gate.measure("c", 120));  // it is not forgotten meanwhile
}

TEST_CASE("bucket: says how long to wait") {
  TokenBucket bucket(4, 2);
  CHECK(bucket.take(10));
  CHECK(bucket.take(10));
  CHECK_FALSE(bucket.take(10));
  CHECK(bucket.wait(10) == doctest::Approx(0.25));
  CHECK(bucket.take(10.25));
  CHECK_FALSE(bucket.full(10.5));
  CHECK(bucket.full(11));
}

TEST_CASE("pace: what began must go on") {
  LeastRate pace(1000, 10);
  CHECK(pace.keeps(5, 0));
  CHECK(pace.keeps(6, 9.9));
  CHECK(pace.rate() == HUGE_VAL);
  CHECK_FALSE(pace.keeps(15, 10));
  CHECK(pace.rate() == 1);
  pace.end();
  CHECK(pace.rate() == HUGE_VAL);
  CHECK(pace.keeps(15, 20));
  CHECK(pace.keeps(10015, 30));
  CHECK(pace.keeps(10015, 39));
  CHECK_FALSE(pace.keeps(20014, 40));
}

TEST_CASE("byte budget: a rate after a burst; what is given back is never more") {
  ByteBudget budget(10, 100, 50, 0);
  CHECK_FALSE(budget.is_full(0));
  CHECK(budget.spend(60, 0));  // what began with something left goes on
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
