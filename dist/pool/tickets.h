// SPDX-License-Identifier: MIT
// Tickets: the tasks and an index over their open tickets in the store. The leases and votes of a
// ticket belong to Leases and Votes.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dist/pool/store.h"
#include "dist/pool/task.h"

namespace kaiseki::dist {

/// An open ticket. Only Tickets changes it.
class PoolTicket {
 public:
  PoolTicket(const TicketRow& row, PoolTask& task)
      : row_(row), task_(&task), was_issued_(row.epoch > 0) {}

  TicketId id() const { return row_.id; }
  const TicketRow& row() const { return row_; }
  PoolTask& task() const { return *task_; }
  const TaskSpec& spec() const { return task_->spec(); }
  /// Whether it was issued before it was read from the store: its first leases are not known.
  bool was_issued_before_loading() const { return was_issued_; }
  /// Whether the node, or another node of its source, failed on the ticket.
  bool has_failed(const NodeId& node, const std::string& source) const;
  /// Whether the node let a deadline pass while no ticket of the task was measured. A restart
  /// forgets this.
  bool has_hung(const NodeId& node, const std::string& source) const;
  bool is_ready() const { return position_.place == TicketQueue::Place::ready; }

 private:
  friend class Tickets;

  TicketRow row_;
  PoolTask* task_;
  bool was_issued_;
  std::vector<FailureRow> failures_, hung_;
  TicketQueue::Position position_;
  bool leased_ = false;  // as Progress counts it
};

/// The demand of a ticket, for place().
struct TicketDemand {
  int64_t wanted = 0;   // further leases
  bool leased = false;  // it has leases
  std::optional<double> last_issued = {};
};

/// A failed attempt, for failed().
struct TicketFailure {
  FailureRow by;
  int64_t attempts = 1;  // that it counts as
  bool at_once = false;  // the next attempt does not wait
  bool hung = false;
};

class Tickets {
 public:
  explicit Tickets(Store& store) : store_(store) {}

  /// Reads the tasks and the tickets that were issued from the store. Then place() each of all().
  void load();

  // Tasks. Throw Error if there is no such task.
  PoolTask& task(TaskId task, std::string_view operation);
  const std::map<TaskId, PoolTask>& tasks() const { return tasks_; }
  /// The tasks of a project by priority, the highest first.
  const std::vector<TaskId>& of_project(ProjectId project) const;
  PoolTask& add_task(ProjectId project, const TaskSpec& spec);
  void set_state(PoolTask& task, TaskState state);
  void set_priority(PoolTask& task, int priority);
  /// The project was removed from the store: its tasks leave memory.
  void remove_tasks_of(ProjectId project);
  /// Returns the first id. The others follow without a gap.
  TicketId add(PoolTask& task, std::span<const TicketSpec> tickets, double preferred_until);
  /// Deletes ended tickets up to `through` from the store.
  void drop(PoolTask& task, TicketId through);
  /// Deletes open tickets up to `through` from the store. Call abandon(PoolTicket&) for those in
  /// memory first.
  void abandon(PoolTask& task, TicketId through);

  // Open tickets in memory.
  const std::unordered_map<TicketId, PoolTicket>& all() const { return tickets_; }
  PoolTicket& at(TicketId ticket) { return tickets_.at(ticket); }
  const PoolTicket& at(TicketId ticket) const { return tickets_.at(ticket); }
  PoolTicket* find(TicketId ticket);
  /// Reads an open ticket from the store; null if it is not open. Then place() it.
  PoolTicket* load(TicketId ticket);
  /// Reads the next tickets of a task that were never issued. Then place() each.
  std::vector<PoolTicket*> load_fresh(PoolTask& task);
  /// The tickets of a task that have a place in its queue.
  std::vector<PoolTicket*> of_task(TaskId task, TicketId through);

  // Steps of an open ticket.
  /// Puts the ticket where it belongs in the queue of its task.
  void place(PoolTicket& ticket, const TicketDemand& demand, double now);
  void issued(PoolTicket& ticket, const LeaseRow& lease) {
    ticket.row_.epoch = lease.epoch;
    ticket.task_->newcomer_leases_ += lease.newcomer;
  }
  void lease_ended(PoolTicket& ticket, const LeaseRow& lease) {
    ticket.task_->newcomer_leases_ -= lease.newcomer;
  }
  void failed(PoolTicket& ticket, const TicketFailure& failure, double now);
  /// Done or dead in the store. Returns the sequence. The ticket stays in memory until forget().
  int64_t finish(PoolTicket& ticket, const Finished& finished);
  /// Takes an ended ticket out of memory.
  void forget(PoolTicket& ticket);
  /// Takes a ticket that is no longer counted as open out of memory.
  void abandon(PoolTicket& ticket);

 private:
  PoolTicket& insert(const TicketRow& row);
  void sort(std::vector<TaskId>& tasks) const;

  Store& store_;
  std::map<TaskId, PoolTask> tasks_;
  std::map<ProjectId, std::vector<TaskId>> by_project_;
  std::unordered_map<TicketId, PoolTicket> tickets_;
};

}  // namespace kaiseki::dist
