// SPDX-License-Identifier: MIT
// Nodes that come, go, come back, break and are put out.
#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("node: its tickets go to others at once when it disconnects") {
  TestPool at;
  const TaskId task = at.task(2);
  const NodeId a = at.join(2);
  const auto leases = at.pool->lease(a, 2);
  REQUIRE(leases.size() == 2);
  const NodeId b = at.join(2);
  const int work = at.work;
  at.pool->disconnected(a);
  CHECK(at.work == work + 1);
  CHECK(at.pool->progress(task) == Progress{.free = 2});
  CHECK(at.lease(b).ticket == leases[0].ticket);
  CHECK(has(error_of([&] { at.pool->lease(a, 1); }), "rejoin"));
  // It computed on without a connection: what it has counts as long as nobody was faster.
  CHECK(at.answer(a, leases[0]) == Outcome::accepted);
}

TEST_CASE("node: comes back with its key, also after a restart, and what it has done counts") {
  TestPool at;
  const TaskId task = at.task(3);
  const NodeIdentity a = at.pool->join({.name = "a", .functions = {"f"}});
  const Lease lease = at.lease(a.id);
  at.restart();
  CHECK(at.pool->progress(task) == Progress{.free = 3});
  CHECK(!at.pool->node(a.id)->connected);
  CHECK(!at.pool->rejoin({a.id, std::string(64, '0')}, {}));
  CHECK(!at.pool->rejoin({a.id, ""}, {}));
  CHECK(at.count("refused_key") == 2);
  CHECK(at.pool->rejoin(a, {.name = "b", .functions = {"f"}}));
  CHECK(at.pool->node(a.id)->connected);
  CHECK(at.pool->node(a.id)->info.name == "b");
  CHECK(at.answer(a.id, lease) == Outcome::accepted);
  CHECK(at.pool->lease(a.id, 1).size() == 1);
  CHECK(at.pool->progress(task) == Progress{.free = 1, .leased = 1, .done = 1});
}

TEST_CASE("node: comes back before its end was noticed, and what it was leased is free") {
  TestPool at;
  const TaskId task = at.task(2);
  const NodeInfo info = {.threads = 2, .functions = {"f"}, .trusted = true};
  const NodeIdentity a = at.pool->join(info);
  const auto leases = at.pool->lease(a.id, 2);
  REQUIRE(leases.size() == 2);
  const int work = at.work;
  CHECK(at.pool->rejoin(a, info));
  CHECK(at.work == work + 1);
  CHECK(at.pool->progress(task) == Progress{.free = 2});
  CHECK(at.pool->node(a.id)->leases == 0);
  CHECK(at.pool->node(a.id)->failed == 2);
  CHECK(at.lease(at.join()).ticket == leases[0].ticket);
  CHECK(at.answer(a.id, leases[0]) == Outcome::accepted);
  CHECK(at.lease(a.id).ticket == leases[1].ticket);
}

TEST_CASE("node: a ticket that a crash kept from its node goes to whoever comes, also the same") {
  TestPool at;
  const TaskId task = at.task(1);
  const NodeIdentity a = at.pool->join({.functions = {"f"}});
  const Lease lost = at.lease(a.id);  // and the process dies before it is sent
  at.restart();
  CHECK(at.pool->nodes().empty());
  CHECK(at.pool->rejoin(a, {.functions = {"f"}}));
  const Lease again = at.lease(a.id);
  CHECK(again.ticket == lost.ticket);
  CHECK(again.epoch == lost.epoch + 1);
  CHECK(at.answer(a.id, again) == Outcome::accepted);
  CHECK(at.pool->progress(task) == Progress{.done = 1});
  CHECK(at.pool->node(a.id)->failed == 0);
  at.restart();
  CHECK(at.answer(a.id, lost) == Outcome::duplicate);
}

TEST_CASE("node: a ticket whose last attempt a crash ended is dead, and its author is told") {
  TestPool at;
  const TaskId task = at.task(1, {.name = "t", .function = "f", .max_attempts = 1});
  const NodeId a = at.join(), b = at.join();
  const Lease first = at.lease(a);
  at.now += 30;
  at.lease(b);
  at.pool->give_back(a, first.token, "error");
  at.restart();
  CHECK(at.pool->progress(task) == Progress{.dead = 1});
  at.pool->tick();
  at.join();
  REQUIRE(at.ended.size() == 1);
  CHECK(at.ended[0].dead);
}

TEST_CASE("node: identities are random, names are cleaned, unknown nodes are errors") {
  TestPool at;
  const NodeIdentity a = at.pool->join({.name = "<img onerror>\x1b[2J", .threads = -5});
  const NodeIdentity b = at.pool->join({});
  CHECK(a.id.size() == 32);
  CHECK(a.id != b.id);
  CHECK(a.key != b.key);
  CHECK(at.pool->node(a.id)->info.name == "<img onerror> [2J");
  CHECK(at.pool->node(a.id)->info.threads == 1);
  CHECK(at.pool->nodes().size() == 2);
  CHECK(!at.pool->node("nobody"));
  CHECK(has(error_of([&] { at.pool->lease("nobody", 1); }), "'nobody'"));
  CHECK(has(error_of([&] { at.pool->accept("nobody", "", {}); }), "'nobody'"));
}

TEST_CASE("node: a deadline that passes ends the lease, the result still counts") {
  TestPool at;
  const TaskId task = at.task(1);
  const NodeId a = at.join();
  const Lease lease = at.lease(a);
  at.now = at.end_of(lease) - 1;
  at.pool->tick();
  CHECK(at.pool->progress(task) == Progress{.leased = 1});
  at.now = at.end_of(lease);
  at.pool->tick();
  CHECK(at.pool->progress(task) == Progress{.free = 1});
  CHECK(at.count("expired") == 1);
  REQUIRE(at.pool->errors(task).size() == 1);
  CHECK(has(at.pool->errors(task)[0].text, "within 3840 s"));
  CHECK(at.answer(a, lease) == Outcome::accepted);
}

TEST_CASE("node: whose results never come gets one ticket a minute (BOINC#3061)") {
  TestPool at;
  at.task(100, {.name = "t", .function = "f", .max_attempts = 100});
  const NodeIdentity bad = at.pool->join({.threads = 4, .functions = {"f"}});
  for (int i = 0; i < 10; ++i) at.pool->give_back(bad.id, at.lease(bad.id).token, "error");
  const auto given_in = [&](int seconds) {
    size_t given = 0;
    for (int i = 0; i < seconds; ++i, at.now += 1)
      for (const Lease& lease : at.pool->lease(bad.id, 4)) {
        ++given;
        at.pool->give_back(bad.id, lease.token, "error");
      }
    return given;
  };
  CHECK(given_in(601) == 10);
  // To go and come back does not help it, nor does a restart.
  at.pool->disconnected(bad.id);
  CHECK(at.pool->rejoin(bad, {.threads = 4, .functions = {"f"}}));
  CHECK(given_in(59) <= 1);
  at.restart();
  CHECK(at.pool->rejoin(bad, {.threads = 4, .functions = {"f"}}));
  CHECK(given_in(59) <= 1);
  // One result that counts does.
  at.now += 60;
  CHECK(at.answer(bad.id, at.lease(bad.id)) == Outcome::accepted);
  CHECK(at.pool->lease(bad.id, 4).size() == 4);
}

TEST_CASE("node: one disconnection is one failure, however many tickets it takes") {
  TestPool at;
  at.task(40);
  const NodeInfo info = {.threads = 16, .functions = {"f"}, .trusted = true};
  const NodeIdentity good = at.pool->join(info);
  CHECK(at.pool->lease(good.id, 16).size() == 16);
  for (int i = 0; i < 9; ++i) {
    at.pool->disconnected(good.id);
    at.pool->disconnected(good.id);  // without a ticket it is none
    CHECK(at.pool->rejoin(good, info));
    CHECK(at.pool->lease(good.id, 16).size() == 16);
  }
  CHECK(at.pool->node(good.id)->failed == 9 * 16);
  at.pool->disconnected(good.id);
  CHECK(at.pool->rejoin(good, info));
  CHECK(at.pool->lease(good.id, 16).empty());  // ten in a row
}

TEST_CASE("node: an expelled one gets nothing, gives nothing and does not come back") {
  TestPool at;
  const TaskId task = at.task(2);
  const NodeIdentity a = at.pool->join({.functions = {"f"}});
  const Lease lease = at.lease(a.id);
  at.pool->expel(a.id, "asked too often");
  CHECK(at.pool->progress(task) == Progress{.free = 2});
  const auto check = [&] {
    const Answer answer = at.pool->accept(a.id, lease.token, bytes("result"));
    CHECK(answer.outcome == Outcome::refused);
    CHECK(has(answer.reason, "asked too often"));
    CHECK(at.pool->give_back(a.id, lease.token).outcome == Outcome::refused);
    CHECK(!at.pool->rejoin(a, {.functions = {"f"}}));
    CHECK(at.pool->node(a.id)->expelled == "asked too often");
  };
  check();
  CHECK(at.pool->lease(a.id, 1).empty());
  CHECK(at.count("expelled") == 1);
  at.restart();
  check();
  CHECK(error_of([&] { at.pool->expel(a.id, ""); }) != "");
}

TEST_CASE("node: who comes and goes kills no ticket, and holds two until a result of it counted") {
  TestPool at;
  const TaskId task = at.task(10, {.name = "t", .function = "f", .max_attempts = 2});
  const NodeInfo page = {.threads = 1024, .gflops = 1e-9, .functions = {"f"}};
  for (int i = 0; i < 5; ++i) {
    const NodeId id = at.pool->join(page).id;
    CHECK(at.pool->lease(id, 1024).size() == 2);
    CHECK(at.pool->lease(id, 1024).empty());
    at.pool->disconnected(id);
    CHECK(at.pool->node(id)->failed == 2);
  }
  CHECK(at.pool->progress(task) == Progress{.free = 10});
  const NodeId id = at.pool->join(page).id;
  const auto leases = at.pool->lease(id, 1024);
  REQUIRE(leases.size() == 2);
  CHECK(at.answer(id, leases[0]) == Outcome::accepted);
  CHECK(at.pool->lease(id, 1024).size() == 8);
  // Of many tickets nobody gets all.
  at.task(1000);
  CHECK(at.pool->lease(id, 1024).size() == 256 - 9);
}

TEST_CASE("node: a key without its row, as after a crash, is only not known") {
  TestPool at;
  const NodeIdentity lost = at.pool->join({});
  TestPool other;
  other.store->begin();
  other.store->set_setting("key", at.store->setting("key"));
  other.store->commit(true);
  other.restart();
  other.random.seed(2);
  const TaskId task = other.task(1);
  const NodeId honest = other.join();
  const Lease lease = other.lease(honest);
  other.pool->batch([&] {
    CHECK(!other.pool->rejoin(lost, {}));
    CHECK(other.answer(honest, lease) == Outcome::accepted);
  });
  CHECK(other.pool->progress(task) == Progress{.done = 1});
  CHECK(other.count("refused_key") == 1);
}

TEST_CASE("node: who was here in the last day is known, and why it is not any more") {
  TestPool at;
  const NodeId gone = at.join(), liar = at.join();
  at.pool->disconnected(gone);
  at.now += 86000;
  at.pool->expel(liar, "a liar");
  CHECK(at.pool->away(86400).size() == 1);  // the other is still connected
  at.pool->disconnected(liar);
  const NodeId here = at.join();
  auto away = at.pool->away(86400);
  REQUIRE(away.size() == 2);
  CHECK(away[0].id == liar);
  CHECK(away[0].expelled == "a liar");
  CHECK(away[1].id == gone);
  CHECK(!away[1].connected);
  CHECK(at.pool->away(86400, 1).size() == 1);
  at.now += 1000;
  REQUIRE(at.pool->away(86400).size() == 1);
  CHECK(at.pool->away(86400)[0].id == liar);
  CHECK(at.pool->nodes().size() == 1);
  CHECK(at.pool->nodes()[0].id == here);
}

TEST_CASE("node: those that do not come back are forgotten, those that are there stay") {
  constexpr double kDay = 86400;
  TestPool at;
  at.task(4, {.name = "t", .function = "f", .verification = Verification::quorum});
  const NodeId idle = at.join(), useful = at.join(), voter = at.join(), here = at.join();
  const Lease lease = at.lease(useful);
  at.answer(useful, lease);
  const NodeId second = at.join();
  CHECK(at.answer(second, at.lease(second)) == Outcome::accepted);
  CHECK(at.answer(voter, at.lease(voter)) == Outcome::pending);
  for (const NodeId& node : {idle, useful, voter, second}) at.pool->disconnected(node);
  CHECK(at.pool->collect_nodes() == 0);
  at.now += 2 * kDay;
  CHECK(at.pool->collect_nodes() == 1);
  CHECK(!at.pool->node(idle));
  CHECK(at.pool->node(useful)->accepted == 1);
  at.now += 40 * kDay;
  CHECK(at.pool->collect_nodes() == 2);
  CHECK(!at.pool->node(useful));
  CHECK(at.pool->node(voter));  // its vote still counts
  CHECK(at.pool->node(here)->connected);
  CHECK(at.pool->lease(here, 1).size() == 1);
}
