// SPDX-License-Identifier: MIT
// A full store and folders that cannot be written. A call that cannot be stored throws and changes
// nothing. After there is room again, the pool continues.
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("full disk: accepted results stay, new ones are refused") {
  TestPool at("pool.db");
  at.pool.reset();
  at.store.reset();
  at.store = open_sqlite_store(at.folder / "pool.db", {.max_bytes = 200000});
  at.open();
  const TaskId task = at.task(20);
  const NodeId a = at.join(20);
  const auto leases = at.pool->lease(a, 20);
  REQUIRE(leases.size() == 20);
  const std::string result(15000, 'x');
  int accepted = 0;
  std::string error;
  for (const Lease& lease : leases) {
    error = error_of([&] { accepted += at.answer(a, lease, result) == Outcome::accepted; });
    if (!error.empty()) break;
  }
  CHECK(accepted > 2);
  CHECK(accepted < 20);
  CHECK(has(error, "full"));
  CHECK(has(error, "make room"));
  CHECK(at.ended.size() == static_cast<size_t>(accepted));
  CHECK(at.pool->progress(task) == Progress{.leased = 20 - accepted, .done = accepted});
  // The caller of a batch ignores the error, and the pool stores nothing of the batch.
  CHECK(has(error_of([&] {
              at.pool->batch([&] {
                at.join();
                for (const Lease& lease : leases) error_of([&] { at.answer(a, lease, result); });
              });
            }),
            "nothing of the batch was kept"));
  CHECK(at.pool->nodes().size() == 1);
  CHECK(at.pool->progress(task).done == accepted);

  at.pool.reset();
  at.store.reset();
  at.store = open_sqlite_store(at.folder / "pool.db");
  at.open();
  CHECK(at.pool->progress(task) == Progress{.free = 20 - accepted, .done = accepted});
  int rest = 0;
  for (const Lease& lease : leases) rest += at.answer(a, lease, result) == Outcome::accepted;
  CHECK(rest == 20 - accepted);
  const auto finished = at.pool->finished(task);
  REQUIRE(finished.size() == 20);
  for (const Finished& one : finished) CHECK(text(one.result) == result);
}

TEST_CASE("full disk: a large result whose blob does not fit") {
  TestPool at;
  const TaskId task = at.task(2);
  const NodeId a = at.join(2);
  const auto leases = at.pool->lease(a, 2);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit tight{50000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &tight);
  const std::string large(100000, 'x');
  const std::string error = error_of([&] { at.answer(a, leases[0], large); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  CHECK(has(error, "[blob] expected to write"));
  CHECK(has(error, "File too large"));
  CHECK(at.pool->progress(task) == Progress{.leased = 2});
  CHECK(fs::is_empty(at.blobs.folder()));
  CHECK(at.answer(a, leases[0], large) == Outcome::accepted);
  CHECK(at.answer(a, leases[1], "small") == Outcome::accepted);
}
