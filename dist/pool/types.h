// SPDX-License-Identifier: MIT
// What the pool's author, nodes and console hand over and get: tasks, tickets, leases, answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/io/bytes.h"

namespace kaiseki::dist {

using nn::ByteVector;
using nn::ByteView;

using ProjectId = int64_t;
using TaskId = int64_t;
using TicketId = int64_t;
/// 128 random bits as 32 lower-case hexadecimal digits.
using NodeId = std::string;
/// SHA-256 of a blob: 64 lower-case hexadecimal digits.
using BlobHash = std::string;

/// How a task's results are checked before they count.
enum class Verification : uint8_t {
  none,      // the first result of the right size
  quorum,    // the first that `quorum` nodes of different sources agree on, byte for byte
  adaptive,  // PoolOptions::verify recomputes: everything of newcomers, samples of the others
};

/// Code that nodes run: a native function by name, a module by hash, or both (the node chooses).
struct TaskSpec {
  std::string name = {};
  std::string function = {};  // empty: no native function
  BlobHash module = {};       // empty: no JavaScript or WebAssembly module
  int priority = 0;           // within the project: higher first
  Verification verification = Verification::none;
  int quorum = 2;  // of Verification::quorum
  /// So many failures and the ticket is dead. Of nodes without NodeInfo::trusted each source counts
  /// once; again only when no other node that is there could do it, as all have failed.
  int max_attempts = 10;
  bool public_data = true;  // false: only nodes with NodeInfo::trusted get its tickets
};

enum class TaskState : uint8_t { running, paused, cancelled };

struct TicketSpec {
  ByteVector input = {};             // at most kMaxInput bytes; what is larger belongs into a blob
  std::vector<BlobHash> blobs = {};  // further inputs, by hash
  uint64_t max_result_bytes = 1 << 20;
  double work = 1;     // cost relative to the task's other tickets
  NodeId prefer = {};  // gets it before others, as long as this process lives
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
};

/// Tickets by state. `free` and `leased` are still open.
struct Progress {
  int64_t free = 0, leased = 0, done = 0, dead = 0;
  int64_t open() const { return free + leased; }
  int64_t total() const { return open() + done + dead; }
  bool operator==(const Progress&) const = default;
};

/// A ticket's end. `sequence` counts ends over the whole pool: the order in which they came.
struct Finished {
  int64_t sequence = 0;
  TaskId task = 0;
  TicketId ticket = 0;
  bool dead = false;       // too many attempts: no result; Pool::errors() has the reasons
  bool checked = false;    // recomputed, or agreed on by a quorum
  NodeId node = {};        // whose result it is
  ByteVector result = {};  // empty when it lies in a blob
  BlobHash blob = {};      // empty when it lies in `result`
};

/// Why one attempt failed.
struct TicketError {
  TicketId ticket = 0;
  NodeId node = {};
  double time = 0;  // seconds since 1970
  std::string text = {};
};

/// Of a node's link to the coordinator; 0: not known.
struct LinkSpeed {
  double down_mbit_s = 0, up_mbit_s = 0;
  double round_trip_s = 0;
};

struct NodeInfo {
  std::string name = {}, device = {};  // shown to people, nothing else
  int threads = 1;                     // tickets it computes at once
  // Measured by the node on joining; 0: not known.
  double gflops = 0;
  LinkSpeed link = {};
  std::vector<std::string> functions = {};  // native functions that it has
  bool runs_modules = false;                // JavaScript and WebAssembly
  bool trusted = false;                     // the operator's own: may see private data
  /// Where it is, such as its network address: nodes of one place are one voice in a quorum. Empty:
  /// it speaks for itself.
  std::string source = {};
};

struct NodeIdentity {
  NodeId id = {};
  std::string key = {};  // secret of the node: proves that it is itself when it comes back
};

struct NodeStatus {
  NodeId id = {};
  NodeInfo info = {};
  bool connected = false;
  int leases = 0;
  int64_t accepted = 0, failed = 0;  // results that counted; leases that ended otherwise
  int64_t consecutive_valid = 0;     // checked or sampled since it was last wrong: its trust
  double last_seen = 0;              // seconds since 1970
  std::string expelled = {};         // the reason; empty: it is not
};

/// A ticket handed to one node. The result goes back with the token.
struct Lease {
  TicketId ticket = 0;
  TaskId task = 0;
  int64_t epoch = 0;  // counts the leases of this ticket
  std::string token = {};
  double deadline = 0;  // seconds since 1970: then it is given to others as well
  ByteVector input = {};
  std::vector<BlobHash> blobs = {};
  uint64_t max_result_bytes = 0;
  double work = 1;
};

enum class Outcome : uint8_t {
  accepted,   // counts
  pending,    // kept until others agree (quorum)
  duplicate,  // the ticket is done already; nothing to send again
  stale,      // the ticket is not wanted any more
  refused,    // not valid; `reason` says why
};

struct Answer {
  Outcome outcome = Outcome::refused;
  std::string reason = {};
};

}  // namespace kaiseki::dist
