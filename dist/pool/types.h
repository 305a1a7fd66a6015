// SPDX-License-Identifier: MIT
// The types of the pool's interface: projects, tasks, tickets, nodes, leases, answers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace kaiseki::dist {

using ProjectId = int64_t;
using TaskId = int64_t;
using TicketId = int64_t;
/// 128 random bits as 32 lower-case hexadecimal digits.
using NodeId = std::string;
/// SHA-256 of a blob: 64 lower-case hexadecimal digits.
using BlobHash = std::string;

/// The check of a task's results before they count.
enum class Verification : uint8_t {
  none,    // the first result that is not too large counts
  quorum,  // a result counts once `quorum` nodes of different sources sent the same bytes
  /// A trusted node's result counts, and that of a proven node. Samples of a proven node's results
  /// and all results of other nodes need a quorum. If PoolOptions::verify is set, it checks those
  /// results instead, of trusted nodes too.
  adaptive,
};

/// The memory of a ticket whose task declares none.
inline constexpr uint64_t kDefaultMemory = uint64_t{256} << 20;
/// The memory of a node that does not say how much it has.
inline constexpr uint64_t kUnknownMemory = uint64_t{1} << 30;

/// The code that nodes run is a native function by name, a module by hash, or both. If both are
/// given, the node chooses.
struct TaskSpec {
  std::string name = {};
  std::string function = {};  // empty: no native function
  BlobHash module = {};       // empty: no JavaScript or WebAssembly module
  int priority = 0;           // within the project: higher first
  Verification verification = Verification::adaptive;
  int quorum = 2;  // nodes that agree; one more if all are unproven and others could compute it
  /// After this many failures a ticket is dead. Nodes without NodeInfo::trusted count once for each
  /// source. They count again if no other connected node could compute the ticket.
  int max_attempts = 10;
  bool public_data = true;  // false: only nodes with NodeInfo::trusted get its tickets
  /// The most memory that computing one ticket needs, in bytes. Nodes stop a module that takes
  /// more.
  uint64_t memory_bytes = kDefaultMemory;
};

enum class TaskState : uint8_t { running, paused, cancelled };

struct TicketSpec {
  ByteVector input = {};             // at most kMaxInput bytes; put larger inputs into blobs
  std::vector<BlobHash> blobs = {};  // further inputs, by hash
  uint64_t max_result_bytes = 1 << 20;
  double work = 1;     // cost relative to the task's other tickets
  NodeId prefer = {};  // gets it before others; a restart forgets this
};
inline constexpr uint64_t kMaxInput = 64 << 10;

struct TaskStatus {
  TaskId id = 0;
  ProjectId project = 0;
  TaskSpec spec = {};
  TaskState state = TaskState::running;
};

struct ProjectStatus {
  ProjectId id = 0;
  std::string name = {};
  double weight = 1;
  /// Seconds without Pool::renew() after which tick() removes the project. Empty: it stays.
  std::optional<double> lapse = {};
};

/// Numbers of tickets by state. Open tickets are `free` or `leased`.
struct Progress {
  int64_t free = 0, leased = 0, done = 0, dead = 0;
  int64_t open() const { return free + leased; }
  int64_t total() const { return open() + done + dead; }
  bool operator==(const Progress&) const = default;
};

/// A ticket that has ended. `sequence` numbers the ended tickets of the whole pool in their order.
struct Finished {
  int64_t sequence = 0;
  TaskId task = 0;
  TicketId ticket = 0;
  bool dead = false;       // too many attempts failed: no result; see Pool::errors()
  bool checked = false;    // computed again, or agreed on by a quorum
  NodeId node = {};        // that sent the result
  ByteVector result = {};  // empty if it is in a blob
  BlobHash blob = {};      // empty if the result is in `result`
};

/// The reason for which an attempt failed.
struct TicketError {
  TicketId ticket = 0;
  NodeId node = {};
  double time = 0;  // seconds since 1970
  std::string text = {};
};

/// A node's link to the coordinator.
struct LinkSpeed {
  double down_mbit_s = 0, up_mbit_s = 0;
  double round_trip_s = 0;
  bool operator==(const LinkSpeed&) const = default;
};

struct NodeInfo {
  std::string name = {}, device = {};  // for display only
  int threads = 1;                     // tickets that it computes at once
  // Measured by the node when it joins, if known.
  std::optional<double> gflops = {};
  std::optional<uint64_t> memory_bytes = {};  // of its device
  std::optional<LinkSpeed> link = {};
  std::vector<std::string> functions = {};  // native functions that it has
  bool runs_modules = false;                // JavaScript and WebAssembly modules
  bool trusted = false;                     // belongs to the operator: may see private data
  /// The place of the node, such as its network address. Nodes of one source have one vote in a
  /// quorum. Empty: the node is its own source.
  std::string source = {};
};

/// The most memory that one ticket may take on a node: a quarter of the node's.
inline uint64_t ticket_memory(const NodeInfo& info) {
  return info.memory_bytes.value_or(kUnknownMemory) / 4;
}

struct NodeIdentity {
  NodeId id = {};
  std::string key = {};  // secret: proves the node's identity when it rejoins
};

struct NodeStatus {
  NodeId id = {};
  NodeInfo info = {};
  bool connected = false;
  int leases = 0;
  int64_t accepted = 0, failed = 0;  // results that counted; leases that ended without
  int64_t consecutive_valid = 0;     // right results since the last wrong one
  double last_seen = 0;              // seconds since 1970
  std::string expelled = {};         // the reason; empty: the node is not expelled
  double resting = 0;                // seconds until it gets tickets again after a failure
};

/// A ticket issued to one node. The node sends its result with the token.
struct Lease {
  TicketId ticket = 0;
  TaskId task = 0;
  int64_t epoch = 0;  // counts the leases of this ticket
  std::string token = {};
  double deadline = 0;  // seconds since 1970; after it other nodes get the ticket too
  ByteVector input = {};
  std::vector<BlobHash> blobs = {};
  uint64_t max_result_bytes = 0;
  double work = 1;
};

enum class Outcome : uint8_t {
  accepted,   // counts
  pending,    // a vote: waits until other nodes agree
  duplicate,  // the ticket is done already
  stale,      // the ticket is no longer wanted
  refused,    // not valid; `reason` says why
};

struct Answer {
  Outcome outcome = Outcome::refused;
  std::string reason = {};
};

}  // namespace kaiseki::dist
