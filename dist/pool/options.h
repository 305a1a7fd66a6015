// SPDX-License-Identifier: MIT
// PoolOptions: the settings and callbacks of a pool.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>

#include "dist/pool/types.h"
#include "dist/trust/expulsion.h"

namespace kaiseki::dist {

/// A result that PoolOptions::verify computes again.
struct Check {
  TaskStatus task;
  TicketId ticket;
  ByteView input;
  const std::vector<BlobHash>& blobs;
  ByteView result;
};

/// An expelled node.
struct Expulsion {
  NodeId node = {};
  ExpulsionReason reason = {};
  enum class By : uint8_t {
    pool,    // the node's result was wrong
    author,  // Pool::expel() was called
  } by = By::pool;
};

struct PoolOptions {
  /// Returns seconds since 1970. Empty: the system's clock. The store holds such times, so they
  /// must be comparable after a restart.
  std::function<double()> clock = {};
  /// Fills a buffer with secret random bytes. Empty: the system's randomness.
  std::function<void(std::span<std::byte>)> random = {};
  /// Returns whether a result is right. Empty: Verification::adaptive compares the results of
  /// nodes.
  std::function<bool(const Check&)> verify = {};
  /// Called when a ticket is done or dead, and the store has its new state. It may call the pool.
  std::function<void(const Finished&)> on_finished = {};
  /// Called when an issued ticket is done, dead, cancelled or abandoned. Its nodes can stop. The
  /// rules of on_finished apply.
  std::function<void(TicketId)> on_unwanted = {};
  /// Called when a node was expelled. The rules of on_finished apply.
  std::function<void(const Expulsion&)> on_expelled = {};
  /// Called when a task was paused, resumed, cancelled or removed, or when its open tickets were
  /// abandoned. The rules of on_finished apply.
  std::function<void(TaskId)> on_task = {};
  /// Called when the pool may have new tickets for idle nodes. The rules of on_finished apply.
  std::function<void()> on_work = {};
  /// Seconds of a lease while the task has no result. When they pass, the lease is doubled, up to
  /// an hour. Then the lease ends as a failed attempt.
  double first_deadline = 60;
  double least_deadline = 10;  // seconds that every lease has
  double hold_seconds = 10;    // seconds of work that a node may hold at once
  /// The number of tickets of a native function that a node may hold at once, by the function's
  /// name. For functions that compute one ticket at a time with all threads.
  std::map<std::string, int> max_held = {};
  /// Native functions for which a missed deadline is no failed attempt of the ticket. Their author
  /// computes late tickets itself.
  std::set<std::string> soft_deadlines = {};
};

}  // namespace kaiseki::dist
