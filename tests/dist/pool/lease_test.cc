// SPDX-License-Identifier: MIT
// The tickets that each node gets, their number, and the time of a lease.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("lease: fresh tickets come first and in order, then the one issued the longest ago") {
  TestPool at;
  at.task(3);
  const NodeId a = at.join(), b = at.join(), c = at.join(), d = at.join();
  std::vector<TicketId> order;
  for (const NodeId& node : {a, b, c}) {
    order.push_back(at.lease(node).ticket);
    at.now += 1;
  }
  CHECK(order == std::vector{order[0], order[0] + 1, order[0] + 2});
  CHECK(at.pool->lease(d, 1).empty());  // all tickets are leased, and none is late
  at.now += 9;                          // without measurements a ticket is late after ten seconds
  const Lease again = at.lease(d);
  CHECK(again.ticket == order[0]);
  CHECK(at.count(PoolEvent::leases) == 3);
  CHECK(at.count(PoolEvent::leases_again) == 1);
}

TEST_CASE("lease: a late ticket is issued to other nodes, but not to all") {
  TestPool at;
  at.task(1);
  const NodeId a = at.join(2);
  at.lease(a);
  at.now += 30;
  CHECK(at.pool->lease(a, 1).empty());
  int again = 0;
  const auto ask = [&](int seconds) {
    at.now += seconds;
    again += static_cast<int>(at.pool->lease(at.join(), 1).size());
  };
  for (int i = 0; i < 6; ++i) ask(11);
  CHECK(again == 2);
  // All nodes may hang, and nothing is measured. There is one more lease after one minute, then
  // after two, four ...
  for (int i = 0; i < 20; ++i) ask(15);
  CHECK(again == 4);
}

TEST_CASE("sashimi's fault: a full cache hands fresh tickets to two clients at once") {
  TestPool at;
  const TaskId task = at.task(1000);
  std::set<TicketId> seen;
  const NodeId a = at.join(64), b = at.join(64);
  for (int i = 0; i < 3; ++i)
    for (const NodeId& node : {a, b})
      for (const Lease& lease : at.pool->lease(node, 64)) {
        CHECK(seen.insert(lease.ticket).second);
        CHECK(at.answer(node, lease) == Outcome::accepted);
      }
  CHECK(seen.size() == 384);
  at.add(task, 5);
  at.restart();
  const NodeId c = at.join(1024);
  std::set<TicketId> rest;
  for (int i = 0; i < 4; ++i)
    for (const Lease& lease : at.pool->lease(c, 1024)) {
      CHECK(rest.insert(lease.ticket).second);
      CHECK(at.answer(c, lease) == Outcome::accepted);
    }
  CHECK(rest.size() == 621);
  for (TicketId ticket : rest) CHECK(!seen.contains(ticket));
}

TEST_CASE("lease: a node holds as many as it has threads until tickets are measured") {
  TestPool at;
  at.task(100);
  const NodeId a = at.join(4);
  CHECK(at.pool->lease(a, 50).size() == 4);
  CHECK(at.pool->lease(a, 50).empty());
  CHECK(at.pool->lease(a, 0).empty());
}

TEST_CASE("lease: a node holds ten seconds of work once tickets are measured") {
  TestPool at;
  at.task(1000);
  const NodeId slow = at.join(1, 1), fast = at.join(1, 8), wide = at.join(4, 1);
  for (int i = 0; i < 20; ++i) {
    const Lease lease = at.lease(slow);
    at.now += 2;
    at.answer(slow, lease);
  }
  CHECK(at.pool->lease(slow, 500).size() == 5);
  CHECK(at.pool->lease(fast, 500).size() == 40);
  CHECK(at.pool->lease(wide, 500).size() == 20);
}

TEST_CASE("lease: a few tickets are left to nodes that can begin at once") {
  TestPool at;
  const TaskId task = at.task(30);
  const NodeId a = at.join(), b = at.join(), c = at.join();
  for (int i = 0; i < 30; ++i) {
    const Lease lease = at.lease(a);
    at.now += 0.01;
    at.answer(a, lease);
  }
  at.add(task, 4);
  CHECK(at.pool->lease(a, 10).size() == 1);
  CHECK(at.pool->lease(b, 10).size() == 1);
  CHECK(at.pool->lease(c, 10).size() == 1);
  at.add(task, 4);
  CHECK(at.pool->lease(a, 10).size() == 2);  // five are free, three nodes are there
}

TEST_CASE("lease: a node with a ticket gets no second one while another node has none") {
  TestPool at;
  const TaskId task = at.task(2);
  const NodeId a = at.join(2), b = at.join(2);
  CHECK(at.pool->lease(a, 2).size() == 1);
  CHECK(at.pool->lease(a, 2).empty());
  CHECK(at.pool->lease(b, 2).size() == 1);
  at.add(task, 1);
  CHECK(at.pool->lease(a, 2).size() == 1);  // no node is idle
  at.add(task, 2);
  const NodeId other = at.pool->join({.functions = {"another"}}).id;
  CHECK(at.pool->lease(b, 2).size() == 1);  // the idle node is not able to compute it
  at.pool->disconnected(other);
}

TEST_CASE("lease: a ticket that is a little late is not issued again") {
  TestPool at;
  const TaskId task = at.task(10);
  const NodeId a = at.join(), b = at.join();
  for (int i = 0; i < 10; ++i) {
    const Lease lease = at.lease(a);
    at.now += 1;
    at.answer(a, lease);
  }
  at.add(task, 1);
  const Lease kept = at.lease(a);
  at.now += 1.2;
  CHECK(at.pool->lease(b, 1).empty());
  at.now += 0.1;
  CHECK(at.lease(b).ticket == kept.ticket);
}

TEST_CASE("lease: the deadline adapts to measurements and to the node's speed") {
  TestPool at;
  at.options.least_deadline = 1;
  at.restart();
  at.task(1000);
  const NodeId a = at.join(1, 10);
  Lease lease = at.lease(a);
  CHECK(lease.deadline - at.now == 60);  // nothing measured yet
  for (int i = 0; i < 30; ++i) {
    at.now += 20 + i % 3 * 4;  // 20, 24, 28: median 24, deviation 4
    at.answer(a, lease);
    lease = at.lease(a);
  }
  CHECK(lease.deadline - at.now == doctest::Approx(48).epsilon(0.15));  // two medians
  const NodeId faster = at.join(1, 40);
  CHECK(at.lease(faster).deadline - at.now == doctest::Approx(12).epsilon(0.15));
  const NodeId slower = at.join(1, 1);
  CHECK(at.lease(slower).deadline - at.now == doctest::Approx(480).epsilon(0.15));
}

TEST_CASE("lease: twice the work has twice the time, and a queued ticket has more") {
  TestPool at;
  at.options.least_deadline = 0.1;
  at.restart();
  const TaskId task = at.task(20);
  const NodeId a = at.join();
  for (int i = 0; i < 20; ++i) {
    const Lease lease = at.lease(a);
    at.now += 3;
    at.answer(a, lease);
  }
  std::vector<TicketSpec> tickets(4);
  tickets[0].work = 2;
  at.pool->add_tickets(task, tickets);
  const auto leases = at.pool->lease(a, 3);
  REQUIRE(leases.size() == 3);
  CHECK(leases[0].work == 2);
  CHECK(leases[0].deadline - at.now == doctest::Approx(12));
  CHECK(leases[1].deadline - at.now == doctest::Approx(12));  // behind one other ticket
  CHECK(leases[2].deadline - at.now == doctest::Approx(18));
}

TEST_CASE("lease: projects get shares by their weights") {
  TestPool at;
  std::map<TaskId, int> given;
  const auto task_of = [&](double weight) {
    const TaskId id =
        at.pool->create_task(at.pool->create_project("p", weight), {.name = "t", .function = "f"});
    at.add(id, 1000);
    return id;
  };
  const TaskId one = task_of(1), three = task_of(3);
  const NodeId a = at.join();
  for (int i = 0; i < 400; ++i) {
    const Lease lease = at.lease(a);
    ++given[lease.task];
    at.now += 1;
    at.answer(a, lease);
  }
  CHECK(given[one] == doctest::Approx(100).epsilon(0.05));
  CHECK(given[three] == doctest::Approx(300).epsilon(0.05));
  // A project is charged for the cost of its tickets. A later project gets no extra share.
  const TaskId late = task_of(1);
  at.pool->set_weight(at.pool->task(three).project, 1);
  given.clear();
  for (int i = 0; i < 300; ++i) {
    const Lease lease = at.lease(a);
    ++given[lease.task];
    at.now += lease.task == late ? 4 : 1;
    at.answer(a, lease);
  }
  CHECK(given[one] == doctest::Approx(given[three]).epsilon(0.1));
  CHECK(given[late] == doctest::Approx(given[one] / 4).epsilon(0.3));
}

TEST_CASE("lease: a claimed speed starves no project") {
  for (const std::string how : {"gives back", "answers", "leaves", "holds"}) {
    INFO("the node ", how);
    TestPool at;
    std::map<TaskId, int> given;
    for (int i = 0; i < 2; ++i) at.task(1000);
    const NodeId liar = at.join(1, 1e9), honest = at.join(1, 20);
    const Lease claimed = at.lease(liar);
    at.now += 1;
    if (how == "gives back") at.pool->give_back(liar, claimed.token);
    if (how == "answers") CHECK(at.answer(liar, claimed) == Outcome::accepted);
    if (how == "leaves") at.pool->disconnected(liar);
    for (int i = 0; i < 200; ++i) {
      const Lease lease = at.lease(honest);
      ++given[lease.task];
      at.now += 1;
      CHECK(at.answer(honest, lease) == Outcome::accepted);
    }
    CHECK(given.size() == 2);
    for (const auto& [task, count] : given) CHECK(count >= 90);
  }
}

TEST_CASE("lease: tasks of a project come by priority, which can change") {
  TestPool at;
  const ProjectId project = at.pool->create_project("p");
  const TaskId low = at.pool->create_task(project, {.name = "low", .function = "f"});
  const TaskId high =
      at.pool->create_task(project, {.name = "high", .function = "f", .priority = 5});
  at.add(low, 5), at.add(high, 5);
  const NodeId a = at.join(20);
  CHECK(at.lease(a).task == high);
  at.pool->set_priority(low, 9);
  CHECK(at.lease(a).task == low);
  at.restart();
  const NodeId b = at.join(20);
  CHECK(at.lease(b).task == low);
  at.pool->pause(low);
  CHECK(at.lease(b).task == high);
  const int work = at.work;
  at.pool->resume(low);
  CHECK(at.work == work + 1);
  CHECK(at.lease(b).task == low);
  at.pool->cancel(low);
  CHECK(at.lease(b).task == high);
}

TEST_CASE("lease: only nodes that can run the task and may see its data get tickets") {
  TestPool at;
  const BlobHash module = at.blobs.put(bytes("module"));
  const ProjectId project = at.pool->create_project("p");
  const auto task_of = [&](TaskSpec spec) {
    const TaskId id = at.pool->create_task(project, spec);
    at.add(id, 100);
    return id;
  };
  const TaskId native = task_of({.name = "native", .function = "f"});
  const TaskId browser = task_of({.name = "browser", .module = module});
  const TaskId both = task_of({.name = "both", .function = "g", .module = module});
  const TaskId secret = task_of({.name = "secret", .function = "f", .public_data = false});
  const auto gets = [&](const NodeInfo& info) {
    std::set<TaskId> tasks;
    for (TaskId task : {native, browser, both, secret}) {
      const NodeId node = at.pool->join(info).id;
      for (TaskId other : {native, browser, both, secret})
        at.pool->set_priority(other, other == task);
      for (const Lease& lease : at.pool->lease(node, 1)) tasks.insert(lease.task);
    }
    return tasks;
  };
  CHECK(gets({.threads = 9}).empty());
  CHECK(gets({.threads = 9, .runs_modules = true}) == std::set{browser, both});
  CHECK(gets({.threads = 9, .functions = {"f"}}) == std::set{native});
  CHECK(gets({.threads = 9, .functions = {"g"}}) == std::set{both});
  CHECK(gets({.threads = 9, .functions = {"f"}, .trusted = true}) == std::set{native, secret});
}

TEST_CASE("lease: a ticket takes at most a quarter of a node's memory") {
  TestPool at;
  constexpr uint64_t kGiB = uint64_t{1} << 30;
  const TaskId task = at.pool->create_task(
      at.pool->create_project("p"),
      {.name = "large", .function = "f", .verification = Verification::none, .memory_bytes = kGiB});
  at.add(task, 1);
  const auto gets = [&](std::optional<uint64_t> memory) {
    const NodeId node = at.pool->join({.memory_bytes = memory, .functions = {"f"}}).id;
    return at.pool->lease(node, 1).size();
  };
  CHECK(gets(4 * kGiB - 1) == 0);
  CHECK(gets({}) == 0);  // such a node counts as one of 1 GiB
  CHECK(has(at.pool->wait_reason(task), "a node with 4.0 GiB of memory"));
  CHECK(gets(4 * kGiB) == 1);
  CHECK(at.pool->wait_reason(task).empty());
}

TEST_CASE("lease: a task that declares no memory needs nodes of 1 GiB") {
  TestPool at;
  at.add(at.pool->create_task(at.pool->create_project("p"), {.name = "t", .function = "f"}), 2);
  const auto gets = [&](std::optional<uint64_t> memory) {
    const NodeId node = at.pool->join({.memory_bytes = memory, .functions = {"f"}}).id;
    return at.pool->lease(node, 1).size();
  };
  CHECK(gets((uint64_t{1} << 30) - 1) == 0);
  CHECK(gets(uint64_t{1} << 30) == 1);
  CHECK(gets({}) == 1);
}

TEST_CASE("lease: a ticket that fails goes to another node at once, and its node rests") {
  TestPool at;
  at.task(100,
          {.name = "t", .function = "f", .verification = Verification::none, .max_attempts = 100});
  const NodeId bad = at.join(4), good = at.join(4);
  double rest = 1;
  for (int i = 0; i < 8; ++i, rest = std::min(2 * rest, 60.0)) {
    CHECK(at.pool->ask_to_lease(good));  // it asks
    const Lease lease = at.lease(bad);
    at.pool->give_back(bad, lease.token, i % 2 ? "an error" : "");
    CHECK(at.pool->node(bad)->resting == rest);
    CHECK(!at.pool->ask_to_lease(bad));
    const Lease again = at.lease(good);
    CHECK(again.ticket == lease.ticket);
    CHECK(at.answer(good, again) == Outcome::accepted);
    at.now += rest - 0.01;
    CHECK(at.pool->lease(bad, 1).empty());
    at.now += 0.02;
    CHECK(at.pool->node(bad)->resting == 0);
  }
  CHECK(at.answer(bad, at.lease(bad)) == Outcome::accepted);  // lowers its failures by an eighth
  at.pool->give_back(bad, at.lease(bad).token);
  CHECK(at.pool->node(bad)->resting == 60);
  CHECK(at.pool->node(good)->resting == 0);
}

TEST_CASE("lease: tickets that a node held at its last failure cost no further rest") {
  TestPool at;
  at.task(100,
          {.name = "t", .function = "f", .verification = Verification::none, .max_attempts = 100});
  const NodeId a = at.join(16);
  const auto leases = at.pool->lease(a, 16);
  REQUIRE(leases.size() == 16);
  at.now += 1;
  for (const Lease& lease : leases) at.pool->give_back(a, lease.token, "an error");
  CHECK(at.pool->node(a)->failed == 16);
  CHECK(at.pool->node(a)->resting == 1);
}

TEST_CASE("lease: a ticket that fails on the only node waits longer each time, then is dead") {
  TestPool at;
  const TaskId task = at.task(
      1, {.name = "t", .function = "f", .verification = Verification::none, .max_attempts = 4});
  for (double pause : {1.0, 2.0, 4.0}) {
    const NodeId node = at.join();
    CHECK(at.pool->give_back(node, at.lease(node).token, "out of memory").outcome ==
          Outcome::accepted);
    at.now += pause - 0.01;
    CHECK(at.pool->lease(at.join(), 1).empty());
    at.restart();
    const NodeId other = at.join();
    CHECK(at.pool->lease(other, 1).empty());
    at.pool->disconnected(other);
    at.now += 0.02;
    at.pool->tick();
    CHECK(at.work > 0);
    at.work = 0;
  }
  const NodeId node = at.join();
  at.pool->give_back(node, at.lease(node).token, "the\nlast\x1b[2J");
  CHECK(at.pool->progress(task) == Progress{.dead = 1});
  REQUIRE(at.ended.size() == 1);
  CHECK(at.ended[0].dead);
  const auto errors = at.pool->errors(task);
  REQUIRE(errors.size() == 4);
  CHECK(errors[0].text == "the last [2J");
  CHECK(errors[0].node == node);
  CHECK(errors[1].text == "out of memory");
}

TEST_CASE("lease: a ticket without attempts left is not issued, but its holder may finish it") {
  TestPool at;
  const TaskId task = at.task(
      1, {.name = "t", .function = "f", .verification = Verification::none, .max_attempts = 1});
  const NodeId a = at.join(), b = at.join();
  const Lease first = at.lease(a);
  at.now += 30;
  const Lease second = at.lease(b);
  at.pool->give_back(a, first.token, "error");
  at.now += 30;
  CHECK(at.pool->lease(at.join(), 1).empty());
  CHECK(at.pool->progress(task) == Progress{.leased = 1});
  CHECK(at.answer(b, second) == Outcome::accepted);
  CHECK(at.pool->progress(task) == Progress{.done = 1});
}

TEST_CASE("lease: a node that claims to be slow keeps no ticket from others") {
  TestPool at;
  at.task(6);
  const NodeId fast = at.join(1, 100);
  for (int i = 0; i < 5; ++i) {
    const Lease lease = at.lease(fast);
    at.now += 1;
    CHECK(at.answer(fast, lease) == Outcome::accepted);
  }
  const NodeId liar = at.join(1, 1e-9);
  CHECK(at.pool->lease(liar, 1).empty());  // the other node would finish it sooner
  at.now += 3;                             // the other node no longer asks
  const Lease kept = at.lease(liar);
  CHECK(kept.deadline - at.now <= 20);
  at.now += 11;
  CHECK(at.lease(fast).ticket == kept.ticket);
}

TEST_CASE("lease: tickets are left only to idle nodes that can compute them") {
  TestPool at;
  const TaskId task = at.task(30);
  const NodeId able = at.join();
  for (int i = 0; i < 30; ++i) {
    const Lease lease = at.lease(able);
    at.now += 0.01;
    at.answer(able, lease);
  }
  for (int i = 0; i < 50; ++i) at.pool->join({.functions = {"another"}});
  at.add(task, 6);
  CHECK(at.pool->lease(able, 10).size() == 5);  // one is left, as if each task had its own nodes
  const NodeId other = at.join();
  at.add(task, 3);
  CHECK(at.pool->lease(able, 10).size() == 2);
  at.pool->disconnected(other);
  CHECK(at.pool->lease(able, 10).size() == 1);
}
