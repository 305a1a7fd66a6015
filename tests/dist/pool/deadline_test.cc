// SPDX-License-Identifier: MIT
// Deadlines of leases, and the measurements of Pace.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("sashimi's fault: a fixed time-out issues a slow node's ticket again and again") {
  TestPool at;
  at.task(50);
  const NodeId slow = at.join();
  for (int i = 0; i < 50; ++i) {
    const Lease lease = at.lease(slow);
    at.now += 100;  // longer than the first deadline, which doubles
    at.pool->tick();
    CHECK(at.answer(slow, lease) == Outcome::accepted);
  }
  CHECK(at.count("expired") == 0);
}

namespace {

/// Slow nodes of one thread that hold two tickets, as dist/node does. They continue with a ticket
/// whose lease has ended, and answer with the last token.
struct LongWork : TestPool {
  struct Worker {
    NodeIdentity identity;
    std::map<TicketId, std::string> tokens;
    TicketId at_work = 0;
    double until = 0;
  };
  LongWork(int count, double the_seconds) : workers(count), seconds(the_seconds) {
    options.on_unwanted = [this](TicketId ticket) {
      for (Worker& worker : workers) {
        worker.tokens.erase(ticket);
        if (worker.at_work == ticket) worker.at_work = 0;
      }
    };
    open();
    for (Worker& worker : workers) worker.identity = pool->join(kInfo);
  }
  void step(Worker& worker) {
    const NodeId& id = worker.identity.id;
    if (worker.at_work && now >= worker.until) {
      pool->accept(id, worker.tokens.at(worker.at_work), bytes("result"));
      worker.tokens.erase(worker.at_work);
      worker.at_work = 0;
    }
    for (const Lease& lease : pool->lease(id, 2 - static_cast<int>(worker.tokens.size())))
      worker.tokens[lease.ticket] = lease.token;
    if (worker.at_work || worker.tokens.empty()) return;
    worker.at_work = worker.tokens.begin()->first;
    worker.until = now + seconds;
  }
  /// Runs until the task has ended, or for that many seconds.
  void run(TaskId task, double longest) {
    for (const double end = now + longest; pool->progress(task).open() > 0 && now < end; now += 5) {
      pool->tick();
      for (Worker& worker : workers) step(worker);
    }
  }

  static inline const NodeInfo kInfo = {.functions = {"f"}, .trusted = true};
  std::vector<Worker> workers;
  double seconds;
};

}  // namespace

TEST_CASE("lease: tickets may take longer than the first deadline") {
  for (const double seconds : {900.0, 7200.0})
    for (const int nodes : {1, 3, 12})
      for (const int tickets : {1, 2 * nodes}) {
        INFO(tickets, " tickets of ", seconds, " s on ", nodes, " nodes");
        LongWork at(nodes, seconds);
        const TaskId task = at.task(tickets);
        at.run(task, 3 * seconds);
        CHECK(at.pool->progress(task) == Progress{.done = tickets});
      }
}

TEST_CASE("lease: tickets whose nodes all hang are dead after a bounded time") {
  for (const int nodes : {1, 3, 12}) {
    INFO(nodes, " nodes");
    LongWork at(nodes, HUGE_VAL);
    const TaskId task = at.task(1);
    const double begin = at.now;
    at.run(task, 1e6);
    CHECK(at.pool->progress(task) == Progress{.dead = 1});
    CHECK(at.now - begin < 3 * 3840);
    REQUIRE(at.pool->errors(task).size() >= 2);
    CHECK(has(at.pool->errors(task)[0].text, "within 3840 s"));
  }
}

TEST_CASE("lease: a node that hangs holds a ticket at most twice while nothing is measured") {
  TestPool at;
  const TaskId task = at.task(1);
  const NodeId hangs = at.join();
  const double begin = at.now;
  for (int held = 1; held <= 2; ++held) {
    const Lease lease = at.lease(hangs);
    at.now = TestPool::end_of(lease);
    at.pool->tick();
    CHECK(at.pool->node(hangs)->leases == 0);
    CHECK(at.pool->progress(task).dead == (held == 2));
    at.now += 1;
  }
  CHECK(at.now - begin < 2 * 3840 + 10);
}

TEST_CASE(
    "lease: what is measured while another has longer ends what hangs, but nothing too early") {
  TestPool at;
  at.task(3);
  const NodeId a = at.join(), b = at.join(), c = at.join();
  const Lease quick = at.lease(a), hangs = at.lease(b), slow = at.lease(c);
  at.now += 50;
  CHECK(at.answer(a, quick) == Outcome::accepted);
  at.now = hangs.deadline;
  at.pool->tick();
  CHECK(at.count("expired") == 0);  // now two medians
  at.now += 40;
  CHECK(at.answer(c, slow) == Outcome::accepted);
  at.now += 200;
  at.pool->tick();
  CHECK(at.count("expired") == 1);
}

TEST_CASE("lease: a ticket that continues over another connection is measured from its start") {
  for (const bool again : {false, true}) {  // with a restart of the coordinator
    TestPool at;
    at.task(2);
    const NodeInfo info = {.functions = {"f"}, .trusted = true};
    const NodeIdentity a = at.pool->join(info);
    at.lease(a.id);
    at.now += 890;
    if (again) at.restart();
    CHECK(at.pool->rejoin(a, info));
    const Lease lease = at.lease(a.id);
    at.now += 10;
    CHECK(at.answer(a.id, lease) == Outcome::accepted);
    CHECK(at.lease(a.id).deadline - at.now == (again ? 60 : 1800));
  }
}

TEST_CASE("lease: the time that a node was disconnected is not measured") {
  TestPool at;
  at.task(100);
  const NodeInfo info = {.functions = {"f"}, .trusted = true};
  const NodeIdentity a = at.pool->join(info);
  for (int i = 0; i < 9; ++i) {
    const Lease lease = at.lease(a.id);
    at.now += 20;
    at.answer(a.id, lease);
  }
  at.lease(a.id);
  at.now += 10000;
  CHECK(at.pool->rejoin(a, info));
  const Lease lease = at.lease(a.id);
  at.now += 15;
  CHECK(at.answer(a.id, lease) == Outcome::accepted);
  CHECK(at.lease(a.id).deadline - at.now == doctest::Approx(40));
}
