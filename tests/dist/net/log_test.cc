// SPDX-License-Identifier: MIT
#include "dist/net/log.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "dist/net/server.h"

using namespace kaiseki::dist;

TEST_CASE("log: control characters from nodes are removed") {
  std::vector<std::string> lines;
  EventLog log([&](const std::string& line) { lines.push_back(line); }, 100);
  log.event("joined", {{"name",
                        "\x1b[2J|\xc2\x9b"
                        "2J|\xc2\x85|\x7f|\xff|\"|日本"}});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find(R"("name": " [2J| 2J| | |?|\"|日本")") != std::string::npos);
  log.event("long", {{"text", std::string(199, 'x') + "日"}});
  CHECK(lines[1].find(std::string(199, 'x') + '"') != std::string::npos);
}

TEST_CASE("log: events of security have room of their own") {
  std::vector<std::string> lines;
  EventLog log([&](const std::string& line) { lines.push_back(line); }, 5);
  for (int i = 0; i < 1000; ++i) log.event("joined");
  for (int i = 0; i < 5; ++i) log.security("expelled", {});
  const auto has_said = [&](std::string_view what) {
    return std::ranges::count_if(
        lines, [&](const std::string& line) { return line.find(what) != std::string::npos; });
  };
  CHECK(has_said("expelled") == 5);
  log.security("key_refused", {});  // each event has its own
  CHECK(has_said("key_refused") == 1);
}

TEST_CASE("log: an address cannot displace the events of security of others") {
  std::vector<std::string> lines;
  EventLog log([&](const std::string& line) { lines.push_back(line); }, 20);
  for (int i = 0; i < 1000; ++i) log.security("key_refused", {}, "192.0.2.1");
  log.security("key_refused", {}, "192.0.2.2");
  CHECK(lines.size() >= 3);  // two of the first, or more if a second ends meanwhile
  CHECK(lines.size() <= 5);
  CHECK(lines.back().find("lines_dropped") != std::string::npos);
}

TEST_CASE("log: a shortened address is the network that limits apply to") {
  CHECK(network_of("192.0.2.7") == "192.0.2.0/24");
  CHECK(network_of("2001:db8:1:2::/64") == "2001:db8:1::/48");
  CHECK(network_of("::ffff:192.0.2.7") == "192.0.2.0/24");
  CHECK(network_of("") == "");
}
