// SPDX-License-Identifier: MIT
// Nodes that join, leave, rejoin, fail and are expelled.
#include <algorithm>
#include <array>

#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("node: when it disconnects, its tickets go to others at once") {
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
  // It computed without a connection: its result counts if no other node was faster.
  CHECK(at.answer(a, leases[0]) == Outcome::accepted);
}

TEST_CASE("node: it rejoins with its key, also after a restart, and keeps its counts") {
  TestPool at;
  const TaskId task = at.task(3);
  const NodeIdentity a = at.pool->join({.name = "a", .functions = {"f"}});
  const Lease lease = at.lease(a.id);
  at.restart();
  CHECK(at.pool->progress(task) == Progress{.free = 3});
  CHECK(!at.pool->node(a.id)->connected);
  CHECK(!at.pool->rejoin({a.id, std::string(64, '0')}, {}));
  CHECK(!at.pool->rejoin({a.id, ""}, {}));
  CHECK(at.count(PoolEvent::refused_key) == 2);
  CHECK(at.pool->rejoin(a, {.name = "b", .functions = {"f"}}));
  CHECK(at.pool->node(a.id)->connected);
  CHECK(at.pool->node(a.id)->info.name == "b");
  CHECK(at.answer(a.id, lease) == Outcome::accepted);
  CHECK(at.pool->lease(a.id, 1).size() == 1);
  CHECK(at.pool->progress(task) == Progress{.free = 1, .leased = 1, .done = 1});
}

TEST_CASE("node: when it rejoins before its disconnection was noticed, its leases end") {
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

TEST_CASE("node: a ticket that was leased at a crash goes to the next node that asks") {
  TestPool at;
  const TaskId task = at.task(1);
  const NodeIdentity a = at.pool->join({.functions = {"f"}});
  const Lease lost = at.lease(a.id);  // and the process ends before it is sent
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

TEST_CASE("node: a ticket whose last attempt ended by a crash is dead, and this is reported") {
  TestPool at;
  const TaskId task = at.task(
      1, {.name = "t", .function = "f", .verification = Verification::none, .max_attempts = 1});
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

TEST_CASE("node: a missed deadline ends the lease, the result still counts") {
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
  CHECK(at.count(PoolEvent::expired) == 1);
  REQUIRE(at.pool->errors(task).size() == 1);
  CHECK(has(at.pool->errors(task)[0].text, "within 3840 s"));
  CHECK(at.answer(a, lease) == Outcome::accepted);
}

TEST_CASE("node: a node that sends no results gets one ticket a minute (BOINC#3061)") {
  TestPool at;
  at.task(100,
          {.name = "t", .function = "f", .verification = Verification::none, .max_attempts = 100});
  const NodeIdentity bad = at.pool->join({.threads = 4, .functions = {"f"}});
  for (int i = 0; i < 10; ++i, at.now += 60)
    at.pool->give_back(bad.id, at.lease(bad.id).token, "error");
  const auto given_in = [&](int seconds) {
    size_t given = 0;
    for (int i = 0; i < seconds; ++i, at.now += 1)
      for (const Lease& lease : at.pool->lease(bad.id, 4)) {
        ++given;
        at.pool->give_back(bad.id, lease.token, "error");
      }
    return given;
  };
  CHECK(given_in(600) == 10);
  // Neither a new connection nor a restart ends the probation.
  at.pool->disconnected(bad.id);
  CHECK(at.pool->rejoin(bad, {.threads = 4, .functions = {"f"}}));
  CHECK(given_in(59) <= 1);
  at.restart();
  CHECK(at.pool->rejoin(bad, {.threads = 4, .functions = {"f"}}));
  CHECK(given_in(59) <= 1);
  // Results that count end it.
  at.now += 60;
  int results = 0;
  for (auto leases = at.pool->lease(bad.id, 4); leases.size() == 1;
       leases = at.pool->lease(bad.id, 4))
    results += at.answer(bad.id, leases[0]) == Outcome::accepted;
  CHECK(results >= 2);
  CHECK(results <= 8);
  CHECK(at.pool->node(bad.id)->leases == 4);
}

TEST_CASE("node: a newcomer rests as long as the failures of its block of addresses say") {
  for (const auto& [first, second, other] :
       {std::array{"192.0.2.1", "192.0.2.77", "192.0.3.1"},
        std::array{"2001:db8::/64", "2001:db8::/64", "2001:db8:0:1::/64"}}) {
    TestPool at;
    at.task(
        1000,
        {.name = "t", .function = "f", .verification = Verification::none, .max_attempts = 1000});
    const auto join = [&](const char* source) {
      return at.pool->join({.functions = {"f"}, .source = source}).id;
    };
    const NodeId proven = join(second);
    CHECK(at.answer(proven, at.lease(proven)) == Outcome::accepted);
    double rest = 1;
    int given = 0;
    for (const double end = at.now + 90; at.now < end; ++given, rest = std::min(2 * rest, 60.0)) {
      const NodeId bad = join(given % 2 ? first : second);
      if (given > 0) CHECK(at.pool->lease(bad, 1).empty());
      at.now += at.pool->node(bad)->resting;
      const Lease lease = at.lease(bad);
      if (given % 3 == 0) at.pool->give_back(bad, lease.token, "an error");
      if (given % 3 == 1) at.pool->give_back(bad, lease.token);
      if (given % 3 == 2) at.pool->expel(bad, {"a wrong result"});
      at.pool->disconnected(bad);
      CHECK(at.pool->node(join(first))->resting == rest);
      CHECK(at.pool->node(join(other))->resting == 0);
      CHECK(at.pool->node(proven)->resting == 0);
    }
    CHECK(given == 8);
  }
}

TEST_CASE("node: newcomers hold at most an eighth of a task's tickets beside other nodes") {
  TestPool at;
  const TaskId task = at.task(17);
  const auto join = [&](int i) {
    return at.pool->join({.functions = {"f"}, .source = "192.0." + std::to_string(i) + ".1"}).id;
  };
  const NodeId proven = join(0);
  CHECK(at.answer(proven, at.lease(proven)) == Outcome::accepted);
  std::vector<NodeId> newcomers;
  for (int i = 1; i < 20; ++i) newcomers.push_back(join(i));
  const auto given = [&] {
    size_t leases = 0;
    for (const NodeId& node : newcomers) leases += at.pool->lease(node, 2).size();
    return leases;
  };
  CHECK(at.pool->ask_to_lease(proven));  // it asks
  CHECK(given() == 2);
  CHECK(given() == 0);
  CHECK(at.lease(proven).task == task);
  at.pool->disconnected(proven);
  CHECK(given() == 14);  // no other node is there
}

TEST_CASE("node: a crowd of idle newcomers hides neither other nodes nor its own tickets") {
  TestPool at;
  at.task(81, {.name = "t", .function = "f", .verification = Verification::none});
  const auto join = [&](int i) {
    const std::string source = "192.0." + std::to_string(i / 200) + "." + std::to_string(i % 200);
    return at.pool->join({.threads = 8, .functions = {"f"}, .source = source}).id;
  };
  const NodeId proven = join(0);
  CHECK(at.answer(proven, at.lease(proven)) == Outcome::accepted);
  std::vector<NodeId> newcomers;
  for (int i = 1; i <= 600; ++i) newcomers.push_back(join(i));
  const auto given = [&] {
    size_t leases = 0;
    for (const NodeId& node : newcomers) leases += at.pool->lease(node, 2).size();
    return leases;
  };
  CHECK(at.pool->ask_to_lease(proven));
  CHECK(given() == 10);
  // A lease that ends leaves room for one.
  const auto held = [&](const NodeId& node) { return at.pool->node(node)->leases > 0; };
  const NodeId first = *std::ranges::find_if(newcomers, held);
  at.pool->disconnected(first);
  std::erase(newcomers, first);
  CHECK(given() == 1);
  // They wait for tickets that they will not get, so the other node computes on all its threads.
  CHECK(at.pool->lease(proven, 8).size() == 8);
}

TEST_CASE("node: one disconnection is one failure, however many tickets it takes") {
  TestPool at;
  at.task(40);
  const NodeInfo info = {.threads = 16, .functions = {"f"}, .trusted = true};
  const NodeIdentity good = at.pool->join(info);
  CHECK(at.pool->lease(good.id, 16).size() == 16);
  for (int i = 0; i < 11; ++i) {
    at.pool->disconnected(good.id);
    at.pool->disconnected(good.id);  // without a ticket this is no failure
    CHECK(at.pool->rejoin(good, info));
    if (i > 0) CHECK(at.pool->lease(good.id, 16).empty());  // the first failure causes no rest
    if (i > 0) at.now += 60;
    CHECK(at.pool->lease(good.id, 16).size() == 16);
  }
  CHECK(at.pool->node(good.id)->failed == 11 * 16);
  at.pool->disconnected(good.id);
  CHECK(at.pool->rejoin(good, info));
  at.now += 60;
  CHECK(at.pool->lease(good.id, 16).size() == 1);  // too many in a row
}

TEST_CASE("node: an expelled node gets no tickets, its results are refused, it cannot rejoin") {
  TestPool at;
  const TaskId task = at.task(2);
  const NodeIdentity a = at.pool->join({.functions = {"f"}});
  const Lease lease = at.lease(a.id);
  at.pool->expel(a.id, {"asked too often"});
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
  CHECK(at.count(PoolEvent::expelled) == 1);
  at.restart();
  check();
  CHECK(error_of([&] { at.pool->expel(a.id, {""}); }) != "");
}

TEST_CASE("node: disconnections kill no ticket, and a newcomer holds two tickets") {
  TestPool at;
  const TaskId task = at.task(
      10, {.name = "t", .function = "f", .verification = Verification::none, .max_attempts = 2});
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
  // No node gets all of many tickets.
  at.task(1000);
  CHECK(at.pool->lease(id, 1024).size() == 256 - 9);
}

TEST_CASE("node: a key proves that its node has joined, also if its row is lost") {
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
    CHECK(other.pool->rejoin(lost, {}));
    CHECK(other.answer(honest, lease) == Outcome::accepted);
  });
  CHECK(other.pool->progress(task) == Progress{.done = 1});
  CHECK(other.pool->node(lost.id)->connected);
}

TEST_CASE("node: the votes and leases of newcomers count after a restart") {
  TestPool at("pool.db");
  const TaskId task =
      at.task(2, {.name = "t", .function = "f", .verification = Verification::quorum});
  const NodeIdentity a = at.pool->join({.threads = 2, .functions = {"f"}, .trusted = true});
  const auto leases = at.pool->lease(a.id, 2);
  REQUIRE(leases.size() == 2);
  CHECK(at.answer(a.id, leases[0]) == Outcome::pending);
  at.pool.reset(), at.store.reset();
  at.store = open_sqlite_store(at.folder / "pool.db");
  at.open();
  CHECK(at.pool->node(a.id)->accepted == 0);
  const NodeId b = at.join(2);
  for (const Lease& lease : at.pool->lease(b, 2))
    CHECK(at.answer(b, lease) ==
          (lease.ticket == leases[0].ticket ? Outcome::accepted : Outcome::pending));
  CHECK(at.pool->node(a.id)->accepted == 1);
  CHECK(at.pool->rejoin(a, {.functions = {"f"}}));
  CHECK(at.answer(a.id, leases[1]) == Outcome::accepted);
  CHECK(at.pool->progress(task) == Progress{.done = 2});
}

TEST_CASE("node: nodes of the last day are listed, with the reason of an expulsion") {
  TestPool at;
  const NodeId gone = at.join(), liar = at.join();
  at.pool->disconnected(gone);
  at.now += 86000;
  at.pool->expel(liar, {"a liar"});
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

TEST_CASE("node: nodes that stay away are deleted, connected ones are kept") {
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
