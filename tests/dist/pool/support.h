// SPDX-License-Identifier: MIT
// A pool with a simulated clock, seeded random numbers, a store in memory and a temporary folder
// for blobs.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "dist/pool/blobs.h"
#include "dist/pool/pool.h"
#include "dist/pool/store.h"
#include "tests/support/folder.h"

namespace kaiseki::test {

using namespace kaiseki::dist;
namespace fs = std::filesystem;

inline ByteVector bytes(std::string_view text) {
  const ByteView view = as_bytes(text);
  return {view.begin(), view.end()};
}

inline std::string text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The message of the Error that `call` throws; empty if it throws none.
template <typename Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

struct TestPool {
  explicit TestPool(const std::string& file = ":memory:",
                    std::function<bool(const Check&)> verify = {})
      : store(open_sqlite_store(file == ":memory:" ? fs::path(file) : folder / file)),
        blobs(folder / "blobs", {.free_floor = 0}) {
    options.clock = [this] { return now; };
    options.random = [this](std::span<std::byte> out) {
      for (std::byte& byte : out) byte = static_cast<std::byte>(random());
    };
    options.verify = std::move(verify);
    options.on_finished = [this](const Finished& finished) { ended.push_back(finished); };
    options.on_work = [this] { ++work; };
    open();
  }

  void open() { pool = std::make_unique<Pool>(*store, blobs, options); }
  /// Opens the pool again. Only the state in the store is left.
  void restart() {
    pool.reset();
    open();
  }

  /// One node computes each ticket.
  static inline const TaskSpec kUnchecked = {
      .name = "test", .function = "f", .verification = Verification::none};
  /// A project with one task of `count` tickets "0", "1", ...
  TaskId task(int count, const TaskSpec& spec = kUnchecked) {
    const TaskId id = pool->create_task(pool->create_project("project"), spec);
    add(id, count);
    return id;
  }
  TicketId add(TaskId task, int count) {
    std::vector<TicketSpec> tickets(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i)
      tickets[static_cast<size_t>(i)].input = bytes(std::to_string(i));
    return pool->add_tickets(task, tickets);
  }
  NodeId join(int threads = 1, std::optional<double> gflops = {}) {
    return pool
        ->join({.name = "node",
                .device = "cpu",
                .threads = threads,
                .gflops = gflops,
                .functions = {"f"},
                .trusted = true})
        .id;
  }
  /// Leases one ticket. The test fails if there is none.
  Lease lease(const NodeId& node) {
    auto leases = pool->lease(node, 1);
    REQUIRE(leases.size() == 1);
    return leases[0];
  }
  Outcome answer(const NodeId& node, const Lease& lease, std::string_view result = "result") {
    return pool->accept(node, lease.token, bytes(result)).outcome;
  }
  /// The time at which a lease without an answer ends, while nothing of its task is measured.
  static double end_of(const Lease& lease) { return lease.deadline + 3840 - 60; }
  /// Makes the blob as old as if it had been put that many seconds ago.
  void age(const BlobHash& hash, int seconds) {
    fs::last_write_time(blobs.folder() / hash,
                        fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  }
  uint64_t count(PoolEvent event) const { return pool->counted(event); }

  Folder folder;
  double now = 1e9;
  std::mt19937 random{1};
  std::unique_ptr<Store> store;
  BlobStore blobs;
  PoolOptions options;
  std::vector<Finished> ended;
  int work = 0;
  std::unique_ptr<Pool> pool;
};

}  // namespace kaiseki::test
