// SPDX-License-Identifier: MIT
// Quorums: votes of nodes and sources, and the reasons why a task waits.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("lease: nodes of one source have one vote in a quorum") {
  TestPool at("pool.db");
  const TaskId task =
      at.task(1, {.name = "t", .function = "f", .verification = Verification::quorum});
  const auto join = [&](const std::string& source) {
    return at.pool->join({.functions = {"f"}, .source = source}).id;
  };
  const NodeId a = join("192.0.2.1"), b = join("192.0.2.1");
  const Lease first = at.lease(a);
  CHECK(at.pool->lease(b, 1).empty());
  CHECK(at.answer(a, first) == Outcome::pending);
  CHECK(at.pool->lease(b, 1).empty());
  at.restart();
  const NodeId c = join("192.0.2.1"), d = join("192.0.2.2");
  CHECK(at.pool->lease(c, 1).empty());
  CHECK(at.answer(d, at.lease(d)) == Outcome::accepted);
  CHECK(at.pool->progress(task).done == 1);
}

TEST_CASE("lease: a node whose source has voted meanwhile loses its lease without a failure") {
  TestPool at;
  const TaskId task =
      at.task(1, {.name = "t", .function = "f", .verification = Verification::quorum});
  const auto join = [&](const std::string& source) {
    return at.pool->join({.functions = {"f"}, .source = source});
  };
  const NodeIdentity again = join("192.0.2.1");
  const NodeId a = again.id, b = join("192.0.2.1").id, c = join("192.0.2.2").id;
  const Lease first = at.lease(a);
  at.pool->disconnected(a);
  const Lease second = at.lease(b);
  REQUIRE(at.pool->rejoin(again, {.functions = {"f"}, .source = "192.0.2.1"}));
  CHECK(at.answer(a, first) == Outcome::pending);
  CHECK(at.answer(b, second) == Outcome::duplicate);
  at.now += 1000;
  at.pool->tick();
  CHECK(at.pool->node(b)->failed == 0);
  CHECK(at.answer(c, at.lease(c)) == Outcome::accepted);
  CHECK(at.pool->progress(task).done == 1);
}

TEST_CASE("lease: each node without a source has its own vote") {
  TestPool at;
  at.task(1, {.name = "t", .function = "f", .verification = Verification::quorum});
  const NodeId a = at.join(), b = at.join();
  CHECK(at.answer(a, at.lease(a)) == Outcome::pending);
  CHECK(at.answer(b, at.lease(b)) == Outcome::accepted);
}

TEST_CASE("lease: a task that no connected node may compute says why") {
  TestPool at;
  const BlobHash code = at.blobs.put(bytes("module"));
  const TaskId module = at.task(1, {.name = "m", .module = code});
  const TaskId function = at.task(1, {.name = "t", .function = "f"});
  const TaskId hidden = at.task(1, {.name = "h", .function = "g", .public_data = false});
  CHECK(at.pool->waiting().empty());  // no node is there
  at.pool->join({.functions = {"g"}, .source = "192.0.2.1"});
  CHECK(has(at.pool->wait_reason(module), "runs modules, such as the page /volunteer/, got 1"));
  CHECK(has(at.pool->wait_reason(function), "the function f, got 1"));
  CHECK(has(at.pool->wait_reason(hidden), "the token, as the data are private, got 1"));
  at.pool->join({.functions = {"f", "g"}, .runs_modules = true, .trusted = true});
  CHECK(at.pool->waiting().empty());
}

TEST_CASE("lease: a quorum task without enough sources reports it") {
  TestPool at;
  const TaskId task =
      at.task(1, {.name = "t", .function = "f", .verification = Verification::quorum});
  const TaskId plain = at.task(1);
  const auto join = [&](const std::string& source, const std::string& function = "f") {
    return at.pool->join({.functions = {function}, .source = source}).id;
  };
  CHECK(has(at.pool->wait_reason(task), "2 addresses, which must agree on each result, got 0"));
  const NodeId a = join("192.0.2.1"), b = join("192.0.2.1");
  join("192.0.2.2", "g");
  CHECK(has(at.pool->wait_reason(task), "got 1"));
  CHECK(at.pool->wait_reason(plain).empty());
  CHECK(at.pool->waiting().size() == 1);
  const NodeId c = join("192.0.2.3");
  CHECK(at.pool->wait_reason(task).empty());
  at.pool->expel(c, {"a liar"});
  CHECK(has(at.pool->wait_reason(task), "got 1"));
  const NodeId own = at.join();  // trusted, so it is its own source
  CHECK(at.pool->wait_reason(task).empty());
  at.pool->disconnected(own);
  CHECK(!at.pool->wait_reason(task).empty());
  at.pool->pause(task);
  CHECK(at.pool->waiting().empty());
  CHECK(has(error_of([&] { at.pool->wait_reason(99); }), "99"));
}
