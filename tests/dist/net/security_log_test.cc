// SPDX-License-Identifier: MIT
// The events of security in the coordinator's log.
#include "tests/dist/net/running.h"

namespace kaiseki::test {

TEST_CASE("coordinator: beside many joins the log has refused results, keys and tokens") {
  std::vector<std::string> lines;
  Running at({}, {}, [&](const std::string& line) { lines.push_back(line); });
  Peer* liar = nullptr;
  Peer stranger;
  at.on([&] {
    at.task("f", 1);
    liar = &at.join("f");
    for (int i = 0; i < 300; ++i) at.join("g");
  });
  at.turns(5);
  at.on([&] {
    const auto ticket = liar->last(FrameType::ticket);
    REQUIRE(ticket);
    Json control = Json::object();
    liar->say(FrameType::result, control.set("token", "invented"), ticket->ticket, "1");
    HttpRequest head;
    head.headers["authorization"] = "Bearer wrong", head.address = "192.0.2.7";
    head.method = "GET", head.path = "/api/projects";
    CHECK(at.coordinator.admit(head).refusal);
    head.path = "/node";
    CHECK(!at.coordinator.open_node(head, stranger));
    head.headers["authorization"] = "Bearer token";
    stranger.session = at.coordinator.open_node(head, stranger);
    Json hello = Json::object();
    hello.set("node", std::string(32, '0')).set("key", "invented");
    stranger.say(FrameType::hello, hello);
  });
  at.turns(5);
  at.on([&] {
    stranger.session.reset();
    const auto logged = [&](std::string_view event, std::string_view address) {
      return std::ranges::count_if(
          lines, [&](const std::string& line) { return has(line, event) && has(line, address); });
    };
    CHECK(logged("node_joined", "192.0.2.1") < 300);
    CHECK(logged("result_refused", "192.0.2.1") == 1);
    CHECK(logged("key_refused", "192.0.2.1") == 1);
    CHECK(logged("token_refused", "192.0.2.7") == 2);
  });
}

}  // namespace kaiseki::test
