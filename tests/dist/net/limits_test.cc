// SPDX-License-Identifier: MIT
#include "dist/net/limits.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "dist/net/log.h"
#include "dist/net/metrics.h"

using namespace kaiseki;
using namespace kaiseki::dist;

TEST_CASE("limits: each has its own name and number") {
  for (const LimitName& one : limit_names()) {
    Limits limits;
    set_limit(limits, std::string(one.name) + "=12345.5");
    int changed = 0;
    for (const LimitName& other : limit_names()) changed += limits.*other.value == 12345.5;
    CHECK(changed == 1);
    CHECK(limits.*one.value == 12345.5);
  }
  CHECK(limit_names().size() * sizeof(double) == sizeof(Limits));
}

TEST_CASE("limits: invalid assignments throw") {
  Limits limits;
  for (const char* bad : {"", "sockets", "sockets=", "sockets=0", "sockets=-1", "sockets=many",
                          "sockets=nan", "sockets=1e99", "socket=1", "=1"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(set_limit(limits, bad), Error);
  }
}

TEST_CASE("metrics: all refusals and counters are listed from the start") {
  ServerMetrics metrics;
  CHECK(metrics.text({}, {}).find("kaiseki_refused_total{reason=\"slow\"} 0\n") !=
        std::string::npos);
  CHECK(metrics.text({}, {}).find("kaiseki_bytes_sent_total 0\n") != std::string::npos);
  metrics.refuse(Refusal::slow);
  metrics.add(Counter::connections, 3);
  const std::string text = metrics.text({{"nodes", 2}}, {{"accepted", 5}});
  CHECK(text.find("kaiseki_refused_total{reason=\"slow\"} 1\n") != std::string::npos);
  CHECK(text.find("# TYPE kaiseki_nodes gauge\nkaiseki_nodes 2\n") != std::string::npos);
  CHECK(text.find("kaiseki_connections_total 3\n") != std::string::npos);
  CHECK(metrics.count(Counter::connections) == 3);
  CHECK(http_counter(204) == Counter::http_2xx);
  CHECK(http_counter(503) == Counter::http_5xx);
  CHECK(text.find("kaiseki_pool_total{event=\"accepted\"} 5\n") != std::string::npos);
}

TEST_CASE("log: one line per event, truncated and escaped, at a limited rate") {
  std::vector<std::string> lines;
  EventLog log([&](const std::string& line) { lines.push_back(line); }, 5);
  log.event("joined", {{"name", "\x1b[2J\n\"" + std::string(500, 'x')}});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("\"event\": \"joined\"") != std::string::npos);
  CHECK(lines[0].find(" [2J \\\"") != std::string::npos);
  CHECK(lines[0].find('\x1b') == std::string::npos);
  CHECK(lines[0].size() < 400);
  for (int i = 0; i < 1000; ++i) log.event("again");
  CHECK(lines.size() <= 15);
}
