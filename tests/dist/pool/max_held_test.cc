// SPDX-License-Identifier: MIT
// PoolOptions::max_held: the number of tickets of a function that a node may hold.
#include <algorithm>
#include <deque>
#include <map>

#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("lease: a node holds at most max_held tickets of a function") {
  TestPool at;
  at.options.max_held = {{"f", 2}};
  at.restart();
  const TaskId task = at.task(8);
  const NodeId a = at.join(16), b = at.join(16);
  std::map<NodeId, std::deque<Lease>> held;
  std::map<NodeId, int> done;
  const auto ask = [&](const NodeId& node) {
    for (const Lease& lease : at.pool->lease(node, 32)) held[node].push_back(lease);
  };
  ask(a), ask(b);
  CHECK(held[a].size() == 2);
  CHECK(held[b].size() == 2);
  CHECK(!at.pool->ask_to_lease(a));
  const TaskId other = at.task(1, {.name = "other", .function = "g"});
  const NodeId both = at.pool->join({.threads = 16, .functions = {"f", "g"}, .trusted = true}).id;
  CHECK(at.pool->lease(both, 32).size() == 3);  // and one of the other
  at.pool->disconnected(both);
  at.pool->cancel(other);
  while (at.pool->progress(task).open() > 0)
    for (const NodeId& node : {a, b}) {
      at.now += 1;
      if (held[node].empty()) continue;
      CHECK(at.answer(node, held[node].front()) == Outcome::accepted);
      held[node].pop_front();
      ++done[node];
      ask(node);
      CHECK(held[node].size() <= 2);
    }
  CHECK(done[a] + done[b] == 8);
  CHECK(std::min(done[a], done[b]) >= 3);
}
