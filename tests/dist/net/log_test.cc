// SPDX-License-Identifier: MIT
#include "dist/net/log.h"

#include <doctest/doctest.h>

using namespace kaiseki::dist;

TEST_CASE("log: nothing that a node said commands the terminal that shows it") {
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
