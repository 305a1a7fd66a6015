// SPDX-License-Identifier: MIT
// The author's side of the pool: calls, errors, results and callbacks.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("pool: results come by ticket id, and by sequence") {
  TestPool at;
  const TaskId task = at.task(5);
  const NodeId a = at.join(5);
  auto leases = at.pool->lease(a, 5);
  std::ranges::reverse(leases);
  for (const Lease& lease : leases) at.answer(a, lease, "of " + text(lease.input));
  const auto by_ticket = at.pool->finished(task);
  REQUIRE(by_ticket.size() == 5);
  for (int i = 0; i < 5; ++i)
    CHECK(text(by_ticket[static_cast<size_t>(i)].result) == "of " + std::to_string(i));
  CHECK(at.pool->finished(task, by_ticket[2].ticket, 1)[0].ticket == by_ticket[3].ticket);
  const auto by_end = at.pool->ended(task);
  REQUIRE(by_end.size() == 5);
  CHECK(by_end[0].ticket == by_ticket[4].ticket);
  CHECK(at.pool->ended(task, by_end[3].sequence).size() == 1);
  REQUIRE(at.ended.size() == 5);
  for (size_t i = 0; i < 5; ++i) CHECK(at.ended[i].sequence == by_end[i].sequence);
}

TEST_CASE("pool: a task takes more tickets, and ended ones can be dropped") {
  TestPool at;
  const TaskId task = at.task(2);
  const NodeId a = at.join();
  TicketId last = 0;
  for (int step = 0; step < 3; ++step) {
    for (int i = 0; i < 2; ++i) {
      const Lease lease = at.lease(a);
      at.answer(a, lease);
      last = lease.ticket;
    }
    CHECK(at.pool->progress(task) == Progress{.done = 2});
    at.pool->drop(task, last);
    CHECK(at.pool->progress(task) == Progress{});
    CHECK(at.add(task, 2) > last);
  }
  CHECK(at.ended.size() == 6);
}

TEST_CASE("pool: pause, resume, cancel") {
  TestPool at;
  const TaskId task = at.task(3);
  const NodeId a = at.join(3);
  const Lease lease = at.lease(a);
  at.pool->pause(task);
  CHECK(at.pool->lease(a, 1).empty());
  CHECK(at.answer(a, lease) == Outcome::accepted);
  at.restart();
  const NodeId b = at.join(3);
  CHECK(at.pool->lease(b, 1).empty());
  at.pool->resume(task);
  const Lease other = at.lease(b);
  at.pool->cancel(task);
  CHECK(at.pool->task(task).state == TaskState::cancelled);
  CHECK(at.pool->node(b)->leases == 0);
  CHECK(at.answer(b, other) == Outcome::stale);
  CHECK(at.pool->lease(b, 1).empty());
  CHECK(at.pool->progress(task) == Progress{.free = 2, .done = 1});
  CHECK(has(error_of([&] { at.pool->resume(task); }), "which was cancelled"));
  CHECK(has(error_of([&] { at.add(task, 1); }), "which was cancelled"));
}

TEST_CASE("pool: a project is deleted with its tasks and results") {
  TestPool at;
  const TaskId task = at.task(5);
  const ProjectId project = at.pool->task(task).project;
  const NodeId a = at.join(2);
  at.answer(a, at.lease(a));
  const Lease lease = at.lease(a);
  at.pool->remove_project(project);
  CHECK(at.pool->projects().empty());
  CHECK(at.pool->tasks().empty());
  CHECK(at.pool->node(a)->leases == 0);
  CHECK(at.answer(a, lease) == Outcome::stale);
  CHECK(at.pool->lease(a, 1).empty());
  at.now += 1e6;
  at.pool->tick();
  at.restart();
  const TaskId next = at.task(1);
  CHECK(next > task);
  at.lease(at.join());
}

TEST_CASE("pool: arguments that are not valid throw with what was expected") {
  TestPool at;
  Pool& pool = *at.pool;
  const ProjectId project = pool.create_project("p");
  const auto task_error = [&](const TaskSpec& spec) {
    return error_of([&] { pool.create_task(project, spec); });
  };
  CHECK(has(error_of([&] { pool.create_project(""); }), "[create_project] expected a name"));
  CHECK(has(error_of([&] { pool.create_project("p", 0); }), "expected a weight above 0, got 0"));
  CHECK(has(error_of([&] { pool.set_weight(project, -1); }), "expected a weight above 0, got -1"));
  CHECK(has(error_of([&] { pool.create_task(99, {.function = "f"}); }), "project of this pool"));
  CHECK(has(task_error({.name = "t"}), "expected a function, a module or both"));
  CHECK(has(task_error({.module = "../x"}), "'../x'"));
  CHECK(has(task_error({.module = std::string(64, 'a')}), "expected a module that was put"));
  CHECK(has(task_error({.function = "f", .max_attempts = 0}), "at least 1, got 0"));
  CHECK(has(task_error({.function = "f", .verification = Verification::quorum, .quorum = 1}),
            "at least 2, got 1"));
  CHECK(has(task_error({.function = "f", .quorum = 0}), "at least 2, got 0"));
  const TaskId task = pool.create_task(project, {.function = "f"});
  const auto ticket_error = [&](const TicketSpec& ticket) {
    const std::vector<TicketSpec> tickets = {{}, ticket};
    return error_of([&] { pool.add_tickets(task, tickets); });
  };
  CHECK(has(error_of([&] { pool.add_tickets(task, {}); }), "at least one ticket"));
  CHECK(has(error_of([&] { pool.add_tickets(99, {}); }), "task of this pool, got 99"));
  CHECK(has(ticket_error({.input = ByteVector(kMaxInput + 1)}), "into a blob"));
  CHECK(has(ticket_error({.blobs = {std::string(64, 'a')}}), "expected blobs that were put"));
  CHECK(has(ticket_error({.work = 0}), "expected work above 0"));
  CHECK(has(ticket_error({.work = std::nan("")}), "expected work above 0"));
  CHECK(has(ticket_error({.max_result_bytes = UINT64_MAX}), "below 2^63"));
  CHECK(has(error_of([&] { pool.keep_blob(project, std::string(64, 'a')); }), "put it first"));
  CHECK(pool.progress(task) == Progress{});  // no ticket of the failed calls was added
}

TEST_CASE("pool: a project that is not renewed lapses, with its tasks") {
  TestPool at("pool.db");
  const ProjectId stays = at.pool->create_project("stays");
  const ProjectId lapses = at.pool->create_project("lapses", 1, 600);
  const ProjectId renewed = at.pool->create_project("renewed", 1, 600);
  const TaskId task = at.pool->create_task(lapses, TestPool::kUnchecked);
  at.add(task, 2);
  const NodeId node = at.join();
  const Lease lease = at.lease(node);
  at.now += 500;
  at.pool->renew(renewed);
  at.restart();  // renews all
  CHECK(at.pool->projects()[1].lapse == 600);
  CHECK(!at.pool->projects()[0].lapse);
  at.now += 500;
  CHECK(at.pool->tick().empty());
  at.pool->renew(renewed);
  CHECK(!error_of([&] { at.pool->batch([] { throw Error("undone"); }); }).empty());
  at.now += 101;
  const auto gone = at.pool->tick();
  REQUIRE(gone.size() == 1);
  CHECK(gone[0].id == lapses);
  CHECK(gone[0].name == "lapses");
  CHECK(at.pool->tasks().empty());
  CHECK(at.pool->rejoin({node, ""}, {}) == false);
  CHECK(at.answer(node, lease) == Outcome::stale);
  at.now += 500;
  REQUIRE(at.pool->tick().size() == 1);
  REQUIRE(at.pool->projects().size() == 1);
  CHECK(at.pool->projects()[0].id == stays);
  CHECK(has(error_of([&] { at.pool->create_project("p", 1, 0); }), "a lapse above 0, got 0"));
  CHECK(has(error_of([&] { at.pool->renew(lapses); }), "project of this pool"));
}

TEST_CASE("pool: blobs stay while a ticket, a task or a project refers to them") {
  TestPool at;
  const ProjectId project = at.pool->create_project("p");
  const BlobHash module = at.blobs.put(bytes("module")), data = at.blobs.put(bytes("data"));
  const BlobHash kept = at.blobs.put(bytes("kept")), unused = at.blobs.put(bytes("unused"));
  const TaskId task = at.pool->create_task(project, {.name = "t", .module = module});
  const std::vector<TicketSpec> tickets = {{.blobs = {data}}};
  at.pool->add_tickets(task, tickets);
  at.pool->keep_blob(project, kept);
  CHECK(at.pool->collect_blobs() == 0);  // all are too young
  CHECK(at.pool->collect_blobs(0) == 1);
  CHECK(!at.blobs.contains(unused));
  at.pool->release_blob(project, kept);
  CHECK(at.pool->collect_blobs(0) == 1);
  at.pool->remove_project(project);
  CHECK(at.pool->collect_blobs(0) == 2);
}

TEST_CASE("pool: discarded blobs are deleted at once unless others refer to them") {
  TestPool at;
  const ProjectId project = at.pool->create_project("p"), other = at.pool->create_project("o");
  const BlobHash kept = at.blobs.put(bytes("kept")), shared = at.blobs.put(bytes("shared"));
  const BlobHash named = at.blobs.put(bytes("named")), loose = at.blobs.put(bytes("loose"));
  for (const BlobHash& hash : {kept, shared}) at.pool->keep_blob(project, hash);
  at.pool->keep_blob(other, shared);
  const std::vector<TicketSpec> tickets = {{.blobs = {named}}};
  at.pool->add_tickets(at.pool->create_task(project, {.name = "t", .function = "f"}), tickets);
  const std::vector<BlobHash> all = {kept, shared, named, loose, "no hash"};
  for (const BlobHash& hash : {kept, shared, named, loose}) at.age(hash, 10);
  CHECK(at.pool->discard_blobs(project, all) == 2);
  CHECK(!at.blobs.contains(kept));
  CHECK(!at.blobs.contains(loose));
  CHECK(at.blobs.contains(shared));
  CHECK(at.blobs.contains(named));
  CHECK(has(error_of([&] { at.pool->discard_blobs(99, all); }), "discard_blobs"));
}

TEST_CASE(
    "pool: a discarded blob that somebody is about to name waits, and stays when it is named") {
  TestPool at;
  const ProjectId project = at.pool->create_project("p");
  const BlobHash loose = at.blobs.put(bytes("loose")), named = at.blobs.put(bytes("named"));
  const BlobHash again = at.blobs.put(bytes("again"));
  const std::vector<BlobHash> all = {loose, named, again};
  CHECK(at.pool->discard_blobs(project, all) == 0);
  for (const BlobHash& hash : all) CHECK(at.blobs.contains(hash));
  const std::vector<TicketSpec> tickets = {{.blobs = {named}}};
  at.pool->add_tickets(at.pool->create_task(project, {.name = "t", .function = "f"}), tickets);
  for (const BlobHash& hash : all) at.age(hash, 10);
  at.blobs.put(bytes("again"));  // by another author
  at.now += 10;
  at.pool->tick();
  CHECK(!at.blobs.contains(loose));
  CHECK(at.blobs.contains(named));
  CHECK(at.blobs.contains(again));
  at.age(again, 10);
  at.now += 10;
  at.pool->tick();
  CHECK(!at.blobs.contains(again));
}

TEST_CASE("pool: a batch is one transaction, reported afterwards") {
  TestPool at;
  const TaskId task = at.task(10);
  const NodeId a = at.join(10);
  at.pool->batch([&] {
    for (const Lease& lease : at.pool->lease(a, 3)) at.answer(a, lease);
    CHECK(at.ended.empty());
  });
  CHECK(at.ended.size() == 3);
  std::vector<Lease> leases;
  NodeId b;
  const std::string error = error_of([&] {
    at.pool->batch([&] {
      b = at.join();
      leases = at.pool->lease(a, 3);
      for (const Lease& lease : leases) at.answer(a, lease);
      throw Error("[test] changed its mind");
    });
  });
  CHECK(has(error, "changed its mind"));
  CHECK(at.ended.size() == 3);
  CHECK(!at.pool->node(b));
  CHECK(at.pool->node(a)->accepted == 3);
  CHECK(at.pool->progress(task) == Progress{.free = 7, .done = 3});
  CHECK(at.lease(a).ticket == leases[0].ticket);
  CHECK(has(error_of([&] { at.pool->batch([&] { at.pool->batch([] {}); }); }), "another batch"));
}

TEST_CASE("pool: abandoned tickets are deleted, done or not, and the task goes on") {
  TestPool at;
  std::vector<TaskId> told;
  at.options.on_task = [&](TaskId task) { told.push_back(task); };
  at.restart();
  const TaskId task = at.task(4);
  const NodeId a = at.join(4);
  const auto leases = at.pool->lease(a, 3);
  REQUIRE(leases.size() == 3);
  CHECK(at.answer(a, leases[0]) == Outcome::accepted);
  at.pool->set_priority(task, 7);
  at.pool->abandon(task, leases[1].ticket);
  CHECK(told == std::vector{task});
  CHECK(at.pool->progress(task) == Progress{.free = 1, .leased = 1});
  CHECK(at.pool->finished(task).empty());
  CHECK(at.answer(a, leases[1]) == Outcome::stale);
  CHECK(at.answer(a, leases[2]) == Outcome::accepted);
  at.restart();
  CHECK(at.pool->progress(task) == Progress{.free = 1, .done = 1});
  CHECK(at.pool->task(task).spec.priority == 7);
  at.pool->abandon(task, INT64_MAX);
  CHECK(at.pool->progress(task).total() == 0);
  const NodeId b = at.join();
  CHECK(at.pool->lease(b, 1).empty());
  at.add(task, 1);
  CHECK(at.answer(b, at.lease(b)) == Outcome::accepted);
  CHECK(has(error_of([&] { at.pool->abandon(99, 1); }), "abandon"));
}

TEST_CASE("pool: on_task reports pause, resume, cancel and removal") {
  TestPool at;
  int told = 0;
  at.options.on_task = [&](TaskId) { ++told; };
  at.restart();
  const TaskId task = at.task(1);
  CHECK(told == 0);
  at.pool->pause(task);
  CHECK(told == 1);
  at.pool->resume(task);
  CHECK(told == 2);
  at.pool->cancel(task);
  CHECK(told == 3);
  at.pool->remove_project(at.pool->task(task).project);
  CHECK(told == 4);
}

TEST_CASE("pool: on_unwanted reports issued tickets that are no longer needed") {
  TestPool at;
  std::vector<TicketId> unwanted;
  at.options.on_unwanted = [&](TicketId ticket) { unwanted.push_back(ticket); };
  at.restart();
  const auto told = [&] {
    std::ranges::sort(unwanted);
    return std::exchange(unwanted, {});
  };
  const NodeId a = at.join(3), b = at.join(3);
  const TaskId task = at.task(5);
  const Lease done = at.lease(a), late = at.lease(a), held = at.lease(b);
  CHECK(at.answer(a, done) == Outcome::accepted);
  CHECK(told() == std::vector{done.ticket});
  CHECK_THROWS_AS(at.pool->batch([&] {
    at.pool->cancel(task);
    throw Error("no");
  }),
                  Error);
  CHECK(told().empty());
  at.now = late.deadline + 1;
  at.pool->tick();
  CHECK(told().empty());
  at.pool->cancel(task);
  CHECK(told() == std::vector{late.ticket, held.ticket});
  const TaskId other = at.task(2);
  const Lease forgotten = at.lease(a);
  at.pool->abandon(other, INT64_MAX);
  CHECK(told() == std::vector{forgotten.ticket});
}

TEST_CASE("pool: on_finished may call the pool") {
  TestPool at;
  TaskId task = 0;
  at.options.on_finished = [&](const Finished& finished) {
    at.ended.push_back(finished);
    if (at.ended.size() < 5) at.add(task, 1);
    CHECK(at.pool->finished(task, finished.ticket - 1)[0].ticket == finished.ticket);
  };
  at.restart();
  task = at.task(1);
  const NodeId a = at.join();
  for (int i = 0; i < 5; ++i) CHECK(at.answer(a, at.lease(a)) == Outcome::accepted);
  CHECK(at.pool->lease(a, 1).empty());
  CHECK(at.ended.size() == 5);
}
