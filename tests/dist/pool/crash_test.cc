// SPDX-License-Identifier: MIT
// kill -9 of the coordinator at each named place. A child works on a pool and is killed there, then
// the parent opens the store. No acknowledged result is lost, no result counts twice, and the work
// continues.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>

#include "dist/pool/crash_point.h"
#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

constexpr int kTickets = 60, kTimes = 20;  // a run passes each place at least kTimes times
const char* const kPoints[] = {"accept.recorded", "blob.renamed", "blob.written", "commit.after",
                               "commit.before"};

std::string_view fatal_point;
int hits_left = 0;

void die_there(std::string_view point) {
  if (point == fatal_point && hits_left-- == 0) ::kill(::getpid(), SIGKILL);
}

std::string result_of(TicketId ticket) {  // some are in the row, some in a blob
  return std::to_string(ticket) + std::string(ticket % 2 ? 10 : 20000, 'x');
}

struct Coordinator {
  explicit Coordinator(const Folder& folder)
      : store(open_sqlite_store(folder / "pool.db")),
        blobs(folder / "blobs", {.free_floor = 0}),
        pool(*store, blobs, {}) {}
  std::unique_ptr<Store> store;
  BlobStore blobs;
  Pool pool;
};

/// Answers tickets and writes the id of each that the pool acknowledged, until none is left.
void work(const Folder& folder, int acknowledgements) {
  Coordinator coordinator(folder);
  Pool& pool = coordinator.pool;
  if (pool.tasks().empty()) {
    const TaskId task = pool.create_task(pool.create_project("p"), {.name = "t", .function = "f"});
    pool.add_tickets(task, std::vector<TicketSpec>(kTickets));
  }
  const NodeId node = pool.join({.threads = 4, .functions = {"f"}, .trusted = true}).id;
  for (;;) {
    const auto leases = pool.lease(node, 4);
    if (leases.empty()) break;
    for (const Lease& lease : leases) {
      const auto outcome =
          pool.accept(node, lease.token, as_bytes(result_of(lease.ticket))).outcome;
      if (outcome == Outcome::accepted &&
          ::write(acknowledgements, &lease.ticket, sizeof lease.ticket) < 0)
        std::abort();
    }
  }
}

/// Runs work() in a child. Returns whether it was killed.
bool work_in_child(const Folder& folder, std::map<TicketId, int>& acknowledged) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      set_crash_hook(die_there);
      work(folder, ends[1]);
    } catch (...) {
      ::_exit(3);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  for (TicketId ticket; ::read(ends[0], &ticket, sizeof ticket) == sizeof ticket;)
    ++acknowledged[ticket];
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK((WIFSIGNALED(status) || WEXITSTATUS(status) == 0));
  return WIFSIGNALED(status);
}

void expect_intact(const Folder& folder, const std::map<TicketId, int>& acknowledged) {
  Coordinator coordinator(folder);
  Pool& pool = coordinator.pool;
  if (pool.tasks().empty()) {
    CHECK(acknowledged.empty());
    return;
  }
  const TaskId task = pool.tasks()[0].id;
  std::map<TicketId, int> kept;
  for (const Finished& finished : pool.finished(task)) {
    ++kept[finished.ticket];
    CHECK(text(pool.result(finished)) == result_of(finished.ticket));
  }
  for (const auto& [ticket, times] : acknowledged) {
    CHECK(times == 1);
    CHECK(kept[ticket] == 1);
  }
  const Progress progress = pool.progress(task);
  CHECK(progress.done == static_cast<int64_t>(kept.size()));
  CHECK(progress.dead == 0);
  // Killed between the task and its tickets: the tickets were never acknowledged.
  CHECK((progress.total() == kTickets || progress.total() == 0));
}

}  // namespace

TEST_CASE("crash: the pool survives kill -9 at every named place, 100 times") {
  int kills = 0;
  for (const char* point : kPoints)
    for (int hit = 0; hit < kTimes; ++hit) {
      INFO(point, ", hit ", hit);
      Folder folder;
      std::map<TicketId, int> acknowledged;
      fatal_point = point;
      hits_left = hit;
      const bool killed = work_in_child(folder, acknowledged);
      CHECK(killed);
      kills += killed;
      expect_intact(folder, acknowledged);
      // The next process finishes the task: it ends the leases of the dead node.
      fatal_point = {};
      Coordinator next(folder);
      Pool& pool = next.pool;
      if (pool.tasks().empty()) continue;
      for (const NodeStatus& node : pool.nodes())
        if (!node.connected) pool.disconnected(node.id);
      const NodeId node = pool.join({.threads = 64, .functions = {"f"}, .trusted = true}).id;
      for (const Lease& lease : pool.lease(node, 64))
        CHECK(pool.accept(node, lease.token, as_bytes(result_of(lease.ticket))).outcome ==
              Outcome::accepted);
      const TaskId task = pool.tasks()[0].id;
      CHECK(pool.progress(task).open() == 0);
      for (const Finished& finished : pool.finished(task))
        CHECK(text(pool.result(finished)) == result_of(finished.ticket));
    }
  CHECK(kills == 100);
}
