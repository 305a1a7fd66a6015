// SPDX-License-Identifier: MIT
#include "dist/net/node_traffic.h"

#include <doctest/doctest.h>

#include "tests/dist/net/running.h"

namespace kaiseki::test {

TEST_CASE("the traffic of a node is an average over working nodes, and remains afterwards") {
  NodeTraffic traffic;
  traffic.tick(1, 0, 0);
  CHECK_FALSE(traffic.bytes_an_hour());
  uint64_t bytes = 0;
  for (int i = 0; i < 60; ++i) traffic.tick(1, bytes += 3000, 3);
  CHECK(traffic.bytes_an_hour().value() == doctest::Approx(3600 * 1000));
  traffic.tick(100, bytes, 0);  // nobody works
  CHECK(traffic.bytes_an_hour().value() == doctest::Approx(3600 * 1000));
  for (int i = 0; i < 600; ++i) traffic.tick(1, bytes += 50, 1);
  CHECK(traffic.bytes_an_hour().value() == doctest::Approx(3600 * 50).epsilon(0.01));
}

TEST_CASE("coordinator: the public list says how many bytes a working node sends and receives") {
  Running at;
  at.on([&] {
    at.metrics.add(Counter::bytes_sent, 500'000);
    at.task("f", 2);
    at.join("f", 1);
  });
  at.turns(3);
  at.on([&] { at.coordinator.tick(at.server.now() + 10); });
  const std::string list = at.get("/pool");
  CHECK_FALSE(list.find("\"node_bytes_an_hour\": 0}") != list.npos);
  CHECK(list.find("\"node_bytes_an_hour\": ") != list.npos);
}

}  // namespace kaiseki::test
