// SPDX-License-Identifier: MIT
// Store: where the pool's truth lives. It keeps rows and guards each step of a ticket; the rules
// are Pool's. tests/dist/pool/store_test.cc is what any store has to pass.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "dist/pool/types.h"
#include "matrix/error.h"

namespace kaiseki::dist {

enum class TicketState : uint8_t { open, done, dead };

struct TicketRow {
  TicketId id = 0;
  TaskId task = 0;
  TicketState state = TicketState::open;
  int64_t epoch = 0;      // leases so far; 0: never given out
  int64_t failures = 0;   // attempts that failed, as far as they count towards its death
  double not_before = 0;  // not given out earlier, seconds since 1970
  uint64_t max_result_bytes = 0;
  double work = 1;
};

struct TicketInput {
  ByteVector input = {};
  std::vector<BlobHash> blobs = {};
};

/// A lease that has not ended.
struct LeaseRow {
  TicketId ticket = 0;
  int64_t epoch = 0;
  NodeId node = {};
  double issued = 0, deadline = 0;  // seconds since 1970
  int64_t round = 1;                // after how many tickets of its own the node gets to this one
};

/// A result that waits for others to agree: only its hash, since who agrees brings it again.
struct VoteRow {
  TicketId ticket = 0;
  NodeId node = {};
  std::string hash = {};
  std::string source = {};  // where the node was then: NodeInfo::source
};

/// Who failed at a ticket that is still open.
struct FailureRow {
  TicketId ticket = 0;
  NodeId node = {};
  std::string source = {};  // where the node was then: NodeInfo::source
};

struct NodeRow {
  NodeId id = {};
  std::string name = {}, device = {};
  int64_t accepted = 0, failed = 0, consecutive_valid = 0;
  int64_t failed_in_a_row = 0;
  double last_seen = 0;
  std::string expelled = {};
};

/// What was written may not be on the disk, and nobody can tell: whoever holds the store must end,
/// and open it again.
class StoreLost : public Error {
 public:
  using Error::Error;
};

/// The disk has no room, of the store or of blobs: what was kept before is, and later there may be.
class DiskFull : public Error {
 public:
  using Error::Error;
};

/// Used by one thread. Throws Error with the system's reason when it cannot write, DiskFull ("disk
/// is full") when there is no room.
class Store {
 public:
  virtual ~Store() = default;

  /// What changes between the two becomes visible as a whole; `durable`: and survives a power cut
  /// from then on. Without, it survives the death of the process.
  virtual void begin() = 0;
  virtual void commit(bool durable) = 0;
  virtual void rollback() noexcept = 0;

  /// Small settings by name; empty: never set.
  virtual std::string setting(std::string_view name) = 0;
  virtual void set_setting(std::string_view name, std::string_view value) = 0;

  virtual ProjectId add_project(const std::string& name, double weight) = 0;
  virtual void set_weight(ProjectId project, double weight) = 0;
  virtual void remove_project(ProjectId project) = 0;
  virtual std::vector<ProjectStatus> projects() = 0;
  virtual void keep_blob(ProjectId project, const BlobHash& blob) = 0;
  virtual void release_blob(ProjectId project, const BlobHash& blob) = 0;
  /// Every blob that anything refers to, some more than once.
  virtual void each_blob(const std::function<void(const BlobHash&)>& use) = 0;
  /// Whether anything refers to it. Quick, however many tickets there are.
  virtual bool names_blob(const BlobHash& blob) = 0;

  virtual TaskId add_task(ProjectId project, const TaskSpec& spec) = 0;
  virtual void set_task(TaskId task, TaskState state, int priority) = 0;
  virtual std::vector<TaskStatus> tasks() = 0;

  /// Ids without a gap from the one that is returned; never an id that was there before.
  virtual TicketId add_tickets(TaskId task, std::span<const TicketSpec> tickets) = 0;
  virtual std::optional<TicketRow> ticket(TicketId ticket) = 0;
  virtual TicketInput input(TicketId ticket) = 0;
  /// Open tickets that were never given out, with ids above `after`, by id.
  virtual std::vector<TicketRow> fresh(TaskId task, TicketId after, int limit) = 0;
  /// Open tickets that were given out before.
  virtual std::vector<TicketRow> touched() = 0;
  virtual std::vector<LeaseRow> leases() = 0;
  /// Tickets of a state, over the whole task.
  virtual int64_t count(TaskId task, TicketState state) = 0;
  /// Removes done and dead tickets up to `through` with all that hangs on them.
  virtual void drop(TaskId task, TicketId through) = 0;
  /// The same of open ones.
  virtual void abandon(TaskId task, TicketId through) = 0;

  // Steps of a ticket. Each happens only while the ticket is open, and says whether it did.
  /// The next lease: only if the ticket's epoch is `lease.epoch - 1`, so that no two have the same.
  virtual bool add_lease(const LeaseRow& lease) = 0;
  virtual bool end_lease(TicketId ticket, int64_t epoch) = 0;
  virtual bool set_failures(TicketId ticket, int64_t failures, double not_before) = 0;
  /// One vote a node.
  virtual bool add_vote(const VoteRow& vote) = 0;
  virtual std::vector<VoteRow> votes(TicketId ticket) = 0;
  /// Removes all votes of a node. Whose tickets'.
  virtual std::vector<TicketId> drop_votes(const NodeId& node) = 0;
  /// Once a node and ticket.
  virtual bool add_failure(const FailureRow& failure) = 0;
  /// Of all open tickets.
  virtual std::vector<FailureRow> failures() = 0;
  /// Done or dead: leases, votes and failures go. Returns the sequence, nothing if it had ended
  /// before.
  virtual std::optional<int64_t> finish(const Finished& finished) = 0;

  /// Results above `after`, by ticket and by sequence.
  virtual std::vector<Finished> finished(TaskId task, TicketId after, int limit) = 0;
  virtual std::vector<Finished> ended(TaskId task, int64_t after, int limit) = 0;
  virtual void add_error(TaskId task, const TicketError& error) = 0;
  /// The newest first.
  virtual std::vector<TicketError> errors(TaskId task, int limit) = 0;

  virtual std::optional<NodeRow> node(const NodeId& node) = 0;
  /// Those last seen after `since`, the latest first.
  virtual std::vector<NodeRow> nodes(double since, int limit) = 0;
  virtual void put_node(const NodeRow& node) = 0;
  /// Forgets nodes last seen before `before`, without an accepted result before `idle_before`; not
  /// those with leases or votes. How many.
  virtual int64_t drop_nodes(double idle_before, double before) = 0;
};

struct SqliteOptions {
  uint64_t max_bytes = 0;        // of the file; 0: as the disk allows
  int busy_milliseconds = 5000;  // that another process may take to let go of the file
};

/// SQLite in one file (WAL), ":memory:" for one that is gone with the process. The file belongs to
/// one process at a time: throws Error while another has it, or when its schema is newer than this.
std::unique_ptr<Store> open_sqlite_store(const std::filesystem::path& file,
                                         SqliteOptions options = {});

}  // namespace kaiseki::dist
