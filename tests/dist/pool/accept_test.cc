// SPDX-License-Identifier: MIT
// Pool::accept(): tokens, sizes, checks, quorums and repeated results. Also the faults of the
// original Sashimi that concern tickets.
#include <set>

#include "base/sha256.h"
#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("accept: the first result counts, once") {
  TestPool at;
  const TaskId task = at.task(1);
  const NodeId a = at.join();
  const Lease lease = at.lease(a);
  CHECK(text(lease.input) == "0");
  CHECK(at.answer(a, lease, "first") == Outcome::accepted);
  CHECK(at.answer(a, lease, "first") == Outcome::duplicate);
  CHECK(at.answer(a, lease, "second") == Outcome::duplicate);
  REQUIRE(at.ended.size() == 1);
  CHECK(text(at.ended[0].result) == "first");
  CHECK(at.ended[0].node == a);
  const auto stored = at.pool->finished(task);
  REQUIRE(stored.size() == 1);
  CHECK(text(at.pool->result(stored[0])) == "first");
  CHECK(at.pool->node(a)->accepted == 1);
  CHECK(at.count(PoolEvent::accepted) == 1);
  CHECK(at.count(PoolEvent::duplicate) == 2);
}

TEST_CASE("sashimi's fault: any client may answer any ticket") {
  TestPool at;
  const TaskId task = at.task(2);
  const NodeId a = at.join(), thief = at.join();
  const Lease first = at.lease(a), second = at.lease(thief);
  // The thief sends the id alone, another node's token, and the token of another ticket.
  CHECK(at.pool->accept(thief, std::to_string(first.ticket), bytes("x")).outcome ==
        Outcome::refused);
  CHECK(at.answer(thief, first) == Outcome::refused);
  const std::string grafted =
      std::to_string(first.ticket) + second.token.substr(second.token.find('.'));
  CHECK(at.pool->accept(thief, grafted, bytes("x")).outcome == Outcome::refused);
  CHECK(at.count(PoolEvent::refused_token) == 3);
  CHECK(at.pool->progress(task).done == 0);
  CHECK(at.answer(a, first) == Outcome::accepted);
}

TEST_CASE("sashimi's fault: every result is acknowledged, also a discarded one") {
  TestPool at;
  at.task(1);
  const NodeId a = at.join(), b = at.join();
  const Lease one = at.lease(a);
  at.now += 30;
  const Lease two = at.lease(b);
  CHECK(two.ticket == one.ticket);
  CHECK(two.epoch == one.epoch + 1);
  CHECK(at.answer(b, two) == Outcome::accepted);
  CHECK(at.answer(a, one) == Outcome::duplicate);
}

TEST_CASE("sashimi's fault: results are not checked") {
  TestPool at;
  const TaskId task =
      at.pool->create_task(at.pool->create_project("p"), {.name = "t", .function = "f"});
  const std::vector<TicketSpec> tickets = {{.max_result_bytes = 4}};
  at.pool->add_tickets(task, tickets);
  const NodeId a = at.join();
  const Lease lease = at.lease(a);
  const Answer answer = at.pool->accept(a, lease.token, bytes("12345"));
  CHECK(answer.outcome == Outcome::refused);
  CHECK(has(answer.reason, "expected at most 4 bytes, got 5"));
  CHECK(at.count(PoolEvent::refused_size) == 1);
  CHECK(at.pool->progress(task) == Progress{.free = 1});
  REQUIRE(at.pool->errors(task).size() == 1);
  CHECK(at.pool->errors(task)[0].node == a);
  CHECK(at.pool->lease(at.join(), 1).empty());  // it waits, as after an error
  at.now += 1;
  at.lease(at.join());
  CHECK(at.answer(a, lease, "1234") == Outcome::accepted);  // the ticket is still open
}

TEST_CASE("accept: a large result is stored as a blob") {
  TestPool at;
  const TaskId task = at.task(1);
  const NodeId a = at.join();
  const std::string large(100000, 'x');
  CHECK(at.answer(a, at.lease(a), large) == Outcome::accepted);
  const auto finished = at.pool->finished(task);
  REQUIRE(finished.size() == 1);
  CHECK(finished[0].result.empty());
  CHECK(is_sha256(finished[0].blob));
  CHECK(text(at.pool->result(finished[0])) == large);
  CHECK(at.pool->collect_blobs(0) == 0);
  at.pool->drop(task, finished[0].ticket);
  CHECK(at.pool->collect_blobs(0) == 1);
}

TEST_CASE("accept: a token expires after a day") {
  TestPool at;
  const TaskId task = at.task(1);
  const NodeId a = at.join();
  const Lease lease = at.lease(a);
  at.now += 86400 + 10;
  at.pool->tick();
  CHECK(at.answer(a, lease) == Outcome::stale);
  CHECK(at.pool->progress(task) == Progress{.free = 1});
}

TEST_CASE("quorum: the result that enough nodes agree on counts") {
  TestPool at;
  const TaskId task =
      at.task(1, {.name = "t", .function = "f", .verification = Verification::quorum, .quorum = 2});
  const NodeId a = at.join(), liar = at.join(), b = at.join();
  const Lease one = at.lease(a);
  CHECK(at.pool->lease(a, 1).empty());  // not twice to one node
  const Lease two = at.lease(liar);
  CHECK(at.pool->lease(b, 1).empty());  // two are out: enough for now
  CHECK(at.answer(a, one, "right") == Outcome::pending);
  CHECK(at.answer(a, one, "right") == Outcome::duplicate);
  CHECK(at.pool->lease(a, 1).empty());  // a voter does not get it again
  CHECK(at.answer(liar, two, "wrong") == Outcome::pending);
  CHECK(at.pool->progress(task).open() == 1);
  at.restart();  // votes are kept
  REQUIRE(at.pool->rejoin({b, ""}, {}) == false);
  const NodeId c = at.join();
  CHECK(at.answer(c, at.lease(c), "right") == Outcome::accepted);
  REQUIRE(at.ended.size() == 1);
  CHECK(text(at.ended[0].result) == "right");
  CHECK(at.ended[0].checked);
  CHECK(at.pool->node(a)->consecutive_valid == 1);
  CHECK(at.pool->node(a)->accepted == 1);
  CHECK(at.pool->node(c)->consecutive_valid == 1);
  CHECK(at.pool->node(liar)->consecutive_valid == 0);
  CHECK(at.pool->node(liar)->failed == 1);
  CHECK(at.count(PoolEvent::outvoted) == 1);
}

TEST_CASE("quorum: the votes of an expelled node do not count") {
  TestPool at("pool.db");
  const TaskId task =
      at.task(1, {.name = "t", .function = "f", .verification = Verification::quorum, .quorum = 2});
  const NodeId liar = at.join(), a = at.join(), b = at.join();
  CHECK(at.answer(liar, at.lease(liar), "a lie") == Outcome::pending);
  const Lease first = at.lease(a);
  CHECK(at.pool->lease(b, 1).empty());  // one has voted, one is at it
  at.pool->expel(liar, {"lies elsewhere"});
  const Lease second = at.lease(b);
  at.restart();
  CHECK(at.answer(a, first, "a lie") == Outcome::pending);
  CHECK(at.answer(b, second, "a lie") == Outcome::accepted);
  CHECK(at.pool->progress(task).done == 1);
  CHECK(at.pool->node(liar)->accepted == 0);
  CHECK(at.pool->node(liar)->consecutive_valid == 0);
}

TEST_CASE("quorum: one node alone is no quorum, and many tickets do not hide each other") {
  TestPool at;
  const TaskId task = at.task(
      600, {.name = "t", .function = "f", .verification = Verification::quorum, .quorum = 2});
  const NodeId a = at.join();
  std::set<TicketId> seen;
  for (int i = 0; i < 600; ++i) {
    const Lease lease = at.lease(a);
    CHECK(seen.insert(lease.ticket).second);
    CHECK(at.answer(a, lease) == Outcome::pending);
  }
  CHECK(at.pool->lease(a, 1).empty());
  at.add(task, 1);
  // Each call visits some of the tickets that the node has voted on, and continues after them.
  size_t found = 0;
  for (int i = 0; i < 10; ++i) found += at.pool->lease(a, 1).size();
  CHECK(found == 1);
  CHECK(at.pool->progress(task).done == 0);
  const NodeId b = at.join();
  for (int i = 0; i < 600; ++i) CHECK(at.answer(b, at.lease(b)) == Outcome::accepted);
  CHECK(at.pool->progress(task).done == 600);
}

TEST_CASE("quorum: a ticket on which no two nodes agree is dead in the end") {
  TestPool at;
  const TaskId task = at.task(1, {.name = "t",
                                  .function = "f",
                                  .verification = Verification::quorum,
                                  .quorum = 3,
                                  .max_attempts = 4});
  for (int i = 0; i < 5; ++i) {
    CHECK(at.pool->progress(task).dead == 0);
    const NodeId node = at.join();
    CHECK(at.answer(node, at.lease(node), std::to_string(i)) == Outcome::pending);
  }
  CHECK(at.pool->progress(task) == Progress{.dead = 1});
  REQUIRE(at.ended.size() == 1);
  CHECK(at.ended[0].dead);
}

TEST_CASE("adaptive: newcomers are always checked, proven nodes less and less often") {
  int checks = 0;
  TestPool at(":memory:", [&](const Check& check) {
    ++checks;
    return text(check.result) == "right " + text(check.input);
  });
  const TaskId task =
      at.task(3000, {.name = "t", .function = "f", .verification = Verification::adaptive});
  const NodeId a = at.join();
  double expected = 0;
  int checked = 0;
  for (int i = 0; i < 3000; ++i) {
    const Lease lease = at.lease(a);
    CHECK(at.answer(a, lease, "right " + text(lease.input)) == Outcome::accepted);
    if (i < 10) CHECK(checks == i + 1);
    expected += i < 10 ? 1 : std::max(0.02, 1.0 / i);
    checked += at.ended.back().checked;
  }
  CHECK(checked == checks);
  CHECK(checks == doctest::Approx(expected).epsilon(0.3));  // 10 + 1.6 + 59
  CHECK(at.pool->node(a)->consecutive_valid == 3000);
  CHECK(at.pool->progress(task).done == 3000);
}

TEST_CASE("adaptive: a liar is expelled, and its ticket goes to others") {
  TestPool at(":memory:", [](const Check& check) { return text(check.result) == "right"; });
  const TaskId task = at.task(
      3, {.name = "t", .function = "f", .verification = Verification::adaptive, .max_attempts = 1});
  const NodeId liar = at.join(2);
  const auto leases = at.pool->lease(liar, 2);
  REQUIRE(leases.size() == 2);
  const Answer answer = at.pool->accept(liar, leases[0].token, bytes("wrong"));
  CHECK(answer.outcome == Outcome::refused);
  CHECK(has(answer.reason, "is wrong"));
  CHECK(has(at.pool->node(liar)->expelled, "is wrong"));
  CHECK(at.pool->accept(liar, leases[1].token, bytes("right")).outcome == Outcome::refused);
  CHECK(at.pool->lease(liar, 1).empty());
  CHECK(at.count(PoolEvent::expelled) == 1);
  CHECK(at.count(PoolEvent::refused_wrong) == 1);
  CHECK(at.count(PoolEvent::refused_expelled) == 1);
  CHECK(at.pool->progress(task) == Progress{.free = 3});  // a liar says nothing about tickets
  const NodeId honest = at.join();
  for (int i = 0; i < 3; ++i)
    CHECK(at.answer(honest, at.lease(honest), "right") == Outcome::accepted);
}

TEST_CASE("adaptive: trust comes from checked tasks only") {
  int checks = 0;
  TestPool at(":memory:", [&](const Check&) { return ++checks > 0; });
  at.task(50);
  const NodeId a = at.join();
  for (int i = 0; i < 50; ++i) at.answer(a, at.lease(a));
  at.task(1, {.name = "t", .function = "f", .verification = Verification::adaptive});
  at.answer(a, at.lease(a));
  CHECK(checks == 1);
}

TEST_CASE("adaptive: a check that throws changes nothing") {
  bool broken = true;
  TestPool at(":memory:", [&](const Check&) {
    if (broken) throw Error("[verify] no device");
    return true;
  });
  const TaskId task =
      at.task(1, {.name = "t", .function = "f", .verification = Verification::adaptive});
  const NodeId a = at.join();
  const Lease lease = at.lease(a);
  CHECK(has(error_of([&] { at.answer(a, lease); }), "no device"));
  CHECK(at.pool->progress(task) == Progress{.leased = 1});
  broken = false;
  CHECK(at.answer(a, lease) == Outcome::accepted);
}
