// SPDX-License-Identifier: MIT
// The time limit of native functions.
#include "tests/dist/net/computing.h"
#include "tests/dist/net/running.h"
#include "tests/support/wait_until.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("node: a ticket on which a function hangs is given back, and others are computed") {
  // The threads outlast the node, as in a program they may.
  const auto release = std::make_shared<std::promise<void>>();
  const auto running = std::make_shared<std::atomic<int>>(0);
  const NodeFunction function = [released = release->get_future().share(), running](
                                    ByteView input, const TicketContext& context) -> ByteVector {
    if (!input.empty()) return {input.begin(), input.end()};
    ++*running;
    released.wait();
    CHECK(context.cancelled());
    --*running;
    return {};
  };
  Running at;
  TaskId task = 0;
  at.on([&] {
    Pool& pool = at.coordinator.pool();
    task = pool.create_task(pool.create_project("p"),
                            {.name = "t", .function = "f", .max_attempts = 1});
    std::vector<TicketSpec> tickets(12);
    for (size_t i = 3; i < tickets.size(); ++i) tickets[i].input = bytes("an input");
    pool.add_tickets(task, tickets);
  });
  {
    Computing node(at.server.url(), {{"f", function}}, 0.2);  // on two threads
    CHECK(wait_until([&] {
      Progress progress;
      at.on([&] { progress = at.coordinator.pool().progress(task); });
      return progress == Progress{.done = 9, .dead = 3};
    }));
    at.on([&] {
      const auto errors = at.coordinator.pool().errors(task);
      REQUIRE(errors.size() == 3);
      CHECK(errors[0].text == "[join] expected a result within 0.2 s, got none");
      CHECK(at.coordinator.pool().nodes().at(0).leases == 0);
    });
    CHECK(*running == 3);
    const NodeCounts counts = node.end();  // although three threads hang
    CHECK(counts.accepted == 9);
    CHECK(counts.failed == 3);
    CHECK(counts.abandoned == 3);
  }
  release->set_value();
  CHECK(wait_until([&] { return *running == 0; }));
}

TEST_CASE("node: its end waits for a function that hangs no longer than its limit") {
  const auto release = std::make_shared<std::promise<void>>();
  const auto running = std::make_shared<std::atomic<int>>(0);
  const NodeFunction function = [released = release->get_future().share(), running](
                                    ByteView, const TicketContext&) -> ByteVector {
    ++*running;
    released.wait();
    --*running;
    return {};
  };
  Running at;
  at.on([&] { at.task("f", 1); });
  {
    Computing node(at.server.url(), {{"f", function}}, 1);
    CHECK(wait_until([&] { return *running == 1; }));
    CHECK(node.end().abandoned == 1);
  }
  release->set_value();
  CHECK(wait_until([&] { return *running == 0; }));
}
