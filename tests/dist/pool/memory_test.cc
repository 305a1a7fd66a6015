// SPDX-License-Identifier: MIT
// Nodes without the memory for a ticket do not get it.
#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("memory: a ticket takes at most a quarter of a node's memory") {
  TestPool at;
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  const TaskId task = at.pool->create_task(
      at.pool->create_project("p"), {.name = "large", .function = "f", .memory_bytes = kGiB});
  at.add(task, 1);
  const auto gets = [&](uint64_t memory) {
    const NodeId node = at.pool->join({.memory_bytes = memory, .functions = {"f"}}).id;
    return at.pool->lease(node, 1).size();
  };
  CHECK(gets(4 * kGiB - 1) == 0);
  CHECK(gets(0) == 0);  // such a node counts as one of 1 GiB
  CHECK(has(at.pool->wait_reason(task), "a node with 4.0 GiB of memory"));
  CHECK(gets(4 * kGiB) == 1);
  CHECK(at.pool->wait_reason(task).empty());
}

TEST_CASE("memory: a task that declares no memory needs nodes of 1 GiB") {
  TestPool at;
  at.add(at.pool->create_task(at.pool->create_project("p"), {.name = "t", .function = "f"}), 2);
  const auto gets = [&](uint64_t memory) {
    const NodeId node = at.pool->join({.memory_bytes = memory, .functions = {"f"}}).id;
    return at.pool->lease(node, 1).size();
  };
  CHECK(gets((uint64_t{1} << 30) - 1) == 0);
  CHECK(gets(uint64_t{1} << 30) == 1);
  CHECK(gets(0) == 1);
}
