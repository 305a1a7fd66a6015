// SPDX-License-Identifier: MIT
// The failures that count as attempts, and the nodes that get a ticket after one.
#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

/// Untrusted nodes, and a ticket with results of at most four bytes.
struct Pages : TestPool {
  NodeIdentity page(const std::string& source) {
    return pool->join({.functions = {"f"}, .source = source});
  }
  TaskId small(int count, int max_attempts) {
    const TaskId task =
        pool->create_task(pool->create_project("p"), {.name = "t",
                                                      .function = "f",
                                                      .verification = Verification::none,
                                                      .max_attempts = max_attempts});
    const TicketSpec ticket = {.max_result_bytes = 4};
    pool->add_tickets(task, std::vector<TicketSpec>(static_cast<size_t>(count), ticket));
    return task;
  }
  /// An attempt that fails in one of the possible ways.
  void fail(const NodeId& node, const Lease& lease, int how) {
    if (how % 3 == 0) CHECK(answer(node, lease, "too long") == Outcome::refused);
    if (how % 3 == 1) pool->give_back(node, lease.token, "an error");
    if (how % 3 == 2) now = end_of(lease);
    pool->tick();
    now += 100;
  }
};

}  // namespace

TEST_CASE("failures: a page that fails on purpose kills no ticket: other nodes get it") {
  Pages at;
  const TaskId task = at.small(3, 2);
  const NodeId honest = at.join();
  const NodeId page = at.page("192.0.2.1").id;
  for (int i = 0; i < 3; ++i) {
    CHECK(at.pool->ask_to_lease(honest));  // it asks
    at.fail(page, at.lease(page), i);
  }
  for (int i = 0; i < 5; ++i) {
    CHECK(at.pool->ask_to_lease(honest));
    CHECK(at.pool->lease(page, 1).empty());
    CHECK(at.pool->lease(at.page("192.0.2.1").id, 1).empty());  // under another name
    at.now += 100;
  }
  at.restart();
  const NodeId again = at.join();
  CHECK(at.pool->lease(at.page("192.0.2.1").id, 1).empty());
  CHECK(at.pool->progress(task) == Progress{.free = 3});
  for (int i = 0; i < 3; ++i) CHECK(at.answer(again, at.lease(again), "fine") == Outcome::accepted);
}

TEST_CASE("failures: failures of one source count once while others could do the ticket") {
  Pages at;
  const TaskId task = at.small(1, 2);
  const NodeId page = at.page("192.0.2.1").id;
  for (int i = 0; i < 12; ++i) {
    const Lease lease = at.lease(page);  // no other node is connected
    const NodeId honest = at.join();
    at.now = at.end_of(lease) - 1;
    CHECK(at.pool->ask_to_lease(honest));  // it asks
    at.fail(page, lease, i);
    at.pool->disconnected(honest);
    CHECK(at.pool->progress(task) == Progress{.free = 1});
  }
  CHECK(at.pool->errors(task).size() == 12);  // all errors are kept
}

TEST_CASE("failures: a ticket that fails on all nodes is dead, even with few nodes") {
  Pages at;
  for (const int pages : {1, 2, 3}) {
    INFO(pages, " pages");
    const TaskId task = at.small(1, 10);
    std::vector<NodeId> nodes;
    for (int i = 0; i < pages; ++i) nodes.push_back(at.page("192.0.2." + std::to_string(i)).id);
    int attempts = 0;
    for (int round = 0; round < 100 && at.pool->progress(task).dead == 0; ++round)
      for (const NodeId& node : nodes) {
        for (const NodeId& other : nodes) at.pool->ask_to_lease(other);
        for (const Lease& lease : at.pool->lease(node, 1)) at.fail(node, lease, attempts++ % 2);
      }
    CHECK(at.pool->progress(task) == Progress{.dead = 1});
    CHECK(attempts == 10);
    for (const NodeId& node : nodes) at.pool->disconnected(node);
  }
}

TEST_CASE(
    "failures: with soft deadlines late tickets do not die, and errors are kept once a node") {
  Pages at;
  at.options.soft_deadlines = {"f"};
  at.restart();
  const TaskId task = at.small(1, 2);
  const NodeId a = at.join(), b = at.join();
  for (int i = 0; i < 20; ++i) {
    const NodeId node = i % 2 ? a : b;
    at.fail(node, at.lease(node), 2);
  }
  CHECK(at.pool->progress(task) == Progress{.free = 1});
  CHECK(at.pool->errors(task).size() == 2);
  for (int i = 0; i < 2; ++i) at.fail(a, at.lease(a), 1);
  CHECK(at.pool->progress(task) == Progress{.dead = 1});
  CHECK(at.pool->errors(task).size() == 4);
}

TEST_CASE("failures: a failure of a trusted node always counts") {
  Pages at;
  const TaskId task = at.small(1, 10);
  const NodeId own = at.join();
  for (int i = 0; i < 10; ++i) {
    CHECK(at.pool->progress(task) == Progress{.free = 1});
    const Lease lease = at.lease(own);
    const NodeId other = at.page("192.0.2.1").id;
    CHECK(at.pool->ask_to_lease(other));
    at.fail(own, lease, i % 2);
    at.pool->disconnected(other);
  }
  CHECK(at.pool->progress(task) == Progress{.dead = 1});
}
