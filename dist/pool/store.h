// SPDX-License-Identifier: MIT
// Store: the pool's durable state. It keeps rows and guards each step of a ticket. The rules belong
// to Pool. Every store has to pass tests/dist/pool/store_test.cc.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "dist/pool/types.h"

namespace kaiseki::dist {

enum class TicketState : uint8_t { open, done, dead };

struct TicketRow {
  TicketId id = 0;
  TaskId task = 0;
  TicketState state = TicketState::open;
  int64_t epoch = 0;      // number of leases so far; 0: never issued
  int64_t failures = 0;   // failed attempts that count; at max_attempts the ticket is dead
  double not_before = 0;  // not issued earlier; seconds since 1970
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
  int64_t round = 1;                // the node computes `round - 1` other tickets before this one
  double charged = 0;               // node seconds that its project was charged; not in the store
  bool newcomer = false;  // the node was a newcomer when it got the lease; not in the store
};

/// A result that waits until other nodes agree. Only its hash is stored. The result itself comes
/// from the node that completes the quorum.
struct VoteRow {
  TicketId ticket = 0;
  NodeId node = {};
  std::string hash = {};
  std::string source = {};  // NodeInfo::source when the row was made
};

/// A node that failed on an open ticket.
struct FailureRow {
  TicketId ticket = 0;
  NodeId node = {};
  std::string source = {};  // NodeInfo::source when the row was made
};

struct NodeRow {
  NodeId id = {};
  std::string name = {}, device = {};
  int64_t accepted = 0, failed = 0, consecutive_valid = 0;
  double recent_failures = 0;  // each accepted result lowers it
  double last_seen = 0;
  std::string expelled = {};
  double outvoted = 0;  // lost votes; each confirmed result lowers the number
};

/// The last writes may be lost. The process must end, and the next process opens the store again.
class StoreLost : public Error {
 public:
  using Error::Error;
};

/// The disk of the store or of the blobs is full. Earlier writes are kept. A later write may
/// succeed.
class DiskFull : public Error {
 public:
  using Error::Error;
};

/// For one thread. A method throws DiskFull if the disk is full. If it cannot write for another
/// reason, it throws Error with the system's reason.
class Store {
 public:
  virtual ~Store() = default;

  /// All changes between begin() and commit() become visible together. They survive the end of the
  /// process. If `durable`, they also survive a power cut.
  virtual void begin() = 0;
  virtual void commit(bool durable) = 0;
  virtual void rollback() noexcept = 0;

  /// Returns a small setting, or "" if it was never set.
  virtual std::string setting(std::string_view name) = 0;
  virtual void set_setting(std::string_view name, std::string_view value) = 0;

  virtual ProjectId add_project(const std::string& name, double weight,
                                std::optional<double> lapse = {}) = 0;
  virtual void set_weight(ProjectId project, double weight) = 0;
  virtual void remove_project(ProjectId project) = 0;
  virtual std::vector<ProjectStatus> projects() = 0;
  virtual void keep_blob(ProjectId project, const BlobHash& blob) = 0;
  virtual void release_blob(ProjectId project, const BlobHash& blob) = 0;
  /// Calls `use` for every blob that has a reference. May call it several times for one blob.
  virtual void each_blob(const std::function<void(const BlobHash&)>& use) = 0;
  /// Returns whether anything refers to the blob. The time does not depend on the number of
  /// tickets.
  virtual bool names_blob(const BlobHash& blob) = 0;

  virtual TaskId add_task(ProjectId project, const TaskSpec& spec) = 0;
  virtual void set_task(TaskId task, TaskState state, int priority) = 0;
  virtual std::vector<TaskStatus> tasks() = 0;

  /// Returns the first id. The others follow without a gap. An id is never used twice.
  virtual TicketId add_tickets(TaskId task, std::span<const TicketSpec> tickets) = 0;
  virtual std::optional<TicketRow> ticket(TicketId ticket) = 0;
  virtual TicketInput input(TicketId ticket) = 0;
  /// Open tickets that were never issued, with ids above `after`, by id.
  virtual std::vector<TicketRow> fresh(TaskId task, TicketId after, int limit) = 0;
  /// Open tickets that were issued before.
  virtual std::vector<TicketRow> touched() = 0;
  virtual std::vector<LeaseRow> leases() = 0;
  /// Number of the task's tickets in a state.
  virtual int64_t count(TaskId task, TicketState state) = 0;
  /// Deletes done and dead tickets up to `through`, with the rows that refer to them.
  virtual void drop(TaskId task, TicketId through) = 0;
  /// Deletes open tickets up to `through`, with the rows that refer to them.
  virtual void abandon(TaskId task, TicketId through) = 0;

  // Steps of a ticket. A step changes only an open ticket. Each function returns whether the ticket
  // changed.
  /// Adds a lease if the ticket's epoch is `lease.epoch - 1`. Two leases never have the same epoch.
  virtual bool add_lease(const LeaseRow& lease) = 0;
  virtual bool end_lease(TicketId ticket, int64_t epoch) = 0;
  virtual bool set_failures(TicketId ticket, int64_t failures, double not_before) = 0;
  /// Adds a vote if the node has none on this ticket.
  virtual bool add_vote(const VoteRow& vote) = 0;
  /// The votes on all open tickets, by ticket and node.
  virtual std::vector<VoteRow> votes() = 0;
  /// Deletes the node's votes. Returns the tickets they were for.
  virtual std::vector<TicketId> drop_votes(const NodeId& node) = 0;
  /// Adds a failure if the node has none on this ticket.
  virtual bool add_failure(const FailureRow& failure) = 0;
  /// The failures on all open tickets.
  virtual std::vector<FailureRow> failures() = 0;
  /// Makes the ticket done or dead. Deletes its leases, votes and failures. Returns the sequence,
  /// or nothing if the ticket had ended before.
  virtual std::optional<int64_t> finish(const Finished& finished) = 0;

  /// Ended tickets above `after`: finished() by ticket id, ended() by sequence.
  virtual std::vector<Finished> finished(TaskId task, TicketId after, int limit) = 0;
  virtual std::vector<Finished> ended(TaskId task, int64_t after, int limit) = 0;
  virtual void add_error(TaskId task, const TicketError& error) = 0;
  /// The newest come first.
  virtual std::vector<TicketError> errors(TaskId task, int limit) = 0;

  virtual std::optional<NodeRow> node(const NodeId& node) = 0;
  /// Nodes last seen after `since`. The latest come first.
  virtual std::vector<NodeRow> nodes(double since, int limit) = 0;
  /// A node without an accepted result that is not expelled is a newcomer. Newcomers are in memory
  /// only, and only the last 100,000. Anyone can join as often as the rate of connections allows.
  virtual void put_node(const NodeRow& node) = 0;
  /// Deletes nodes last seen before `before`, and newcomers last seen before `idle_before`. Keeps
  /// nodes with leases or votes. Returns the number of deleted nodes.
  virtual int64_t drop_nodes(double idle_before, double before) = 0;
};

struct SqliteOptions {
  std::optional<uint64_t> max_bytes = {};  // of the file
  int busy_milliseconds = 5000;            // to wait for a process that has the file
  /// Bytes of the disk that are left free. With less, rows can be deleted, but none added.
  uint64_t free_floor = uint64_t{64} << 20;
  /// Acknowledged rows are lost. Called while the store opens, with a line for the log.
  std::function<void(const std::string&)> on_lost = {};
  /// Whether a blob is there and has its hash. Asked for each result in a blob while the store
  /// opens. If empty, such results are not checked.
  std::function<bool(const BlobHash&)> is_whole = {};
};

/// A store in one SQLite file (WAL). ":memory:" is a store without a file. The file belongs to one
/// process at a time. Throws Error if another process has it, if it has another schema, or if it is
/// damaged. It opens on a full disk too: then only reading works.
std::unique_ptr<Store> open_sqlite_store(const std::filesystem::path& file,
                                         const SqliteOptions& options = {});

}  // namespace kaiseki::dist
