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
    pool,    // its result was wrong
    author,  // Pool::expel() was called
  } by = By::pool;
};

struct PoolOptions {
  /// Returns seconds since 1970. Empty: the system's clock. The store keeps such times over
  /// restarts.
  std::function<double()> clock = {};
  /// Fills a buffer with secret random bytes. Empty: the system's randomness.
  std::function<void(std::span<std::byte>)> random = {};
  /// Returns whether a result is right. Empty: Verification::adaptive compares the results of
  /// nodes.
  std::function<bool(const Check&)> verify = {};
  /// A ticket is done or dead. Called after that is in the store. It may call the pool.
  std::function<void(const Finished&)> on_finished = {};
  /// A ticket that was issued is done, dead, cancelled or abandoned: its nodes can stop. Called
  /// like on_finished.
  std::function<void(TicketId)> on_unwanted = {};
  /// A node was expelled. Called like on_finished.
  std::function<void(const Expulsion&)> on_expelled = {};
  /// A task was paused, resumed, cancelled or removed, or its open tickets were abandoned. Called
  /// like on_finished.
  std::function<void(TaskId)> on_task = {};
  /// The pool may have new tickets for idle nodes. Called like on_finished.
  std::function<void()> on_work = {};
  /// Seconds of a lease before any result of the task came. Each time they pass, the lease doubles,
  /// up to an hour. Then it ends as a failed attempt.
  double first_deadline = 60;
  double least_deadline = 10;  // seconds that every lease has
  double hold_seconds = 10;    // seconds of work that a node may hold at once
  /// By the name of a native function: how many of its tickets a node may hold at once. For
  /// functions that compute one ticket after the other, whatever the number of threads.
  std::map<std::string, int> max_held = {};
  /// Native functions for which a missed deadline is no failed attempt of the ticket. Their author
  /// computes late tickets itself.
  std::set<std::string> soft_deadlines = {};
};

}  // namespace kaiseki::dist
