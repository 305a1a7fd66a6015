// SPDX-License-Identifier: MIT
// PoolTask: a task's state, its progress, and the queue of its open tickets. The queue has only the
// tickets that are in memory. Only Tickets changes a PoolTask.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "dist/pool/pace.h"
#include "dist/pool/types.h"

namespace kaiseki::dist {

/// A task's open tickets by their next possible step.
class TicketQueue {
 public:
  enum class Place : uint8_t {
    none,
    ready,        // may be issued now
    waiting,      // may be issued from a time on
    outstanding,  // needs no further lease, by when it was last issued
  };
  struct Position {
    Place place = Place::none;
    /// The time of a waiting ticket, or of an outstanding ticket's last lease, if it has one.
    std::optional<double> time = {};
  };
  /// Tickets by time. Those without a time come first.
  using TimedTickets = std::set<std::pair<std::optional<double>, TicketId>>;

  void move(TicketId ticket, Position& from, Position to);
  void remove(TicketId ticket, const Position& at);

  bool is_ready(TicketId ticket) const { return ready_.contains(ticket); }
  /// The first ready ticket with at least this id.
  std::optional<TicketId> ready_from(TicketId ticket) const;
  /// A waiting ticket that is due.
  std::optional<TicketId> due(double now) const;
  const TimedTickets& outstanding() const { return outstanding_; }
  /// All tickets of the queue up to `through`.
  std::vector<TicketId> through(TicketId through) const;

 private:
  std::set<TicketId> ready_;
  TimedTickets waiting_, outstanding_;
};

/// The nodes that tickets prefer. A restart forgets them.
class Preferences {
 public:
  struct Preference {
    NodeId node;
    double kept_until;  // no other node gets the ticket before, if this one is idle
  };

  void add(TicketId ticket, const NodeId& node, double kept_until);
  /// Null if the ticket prefers no node.
  const Preference* of(TicketId ticket) const;
  /// The first ticket from `from` on that prefers the node.
  std::optional<TicketId> next(const NodeId& node, TicketId from) const;
  std::vector<NodeId> nodes() const;
  void remove(TicketId ticket);
  void remove_through(TicketId ticket);

 private:
  std::map<TicketId, Preference> tickets_;
  std::set<std::pair<NodeId, TicketId>> nodes_;
};

class PoolTask {
 public:
  explicit PoolTask(TaskStatus status, Progress progress = {})
      : status_(std::move(status)), progress_(progress) {}

  TaskId id() const { return status_.id; }
  const TaskStatus& status() const { return status_; }
  const TaskSpec& spec() const { return status_.spec; }
  bool is(TaskState state) const { return status_.state == state; }
  const Progress& progress() const { return progress_; }
  const TicketQueue& queue() const { return queue_; }
  const Preferences& preferences() const { return preferences_; }
  /// Tickets above this id were never issued, and are in the store only.
  TicketId loaded_to() const { return loaded_to_; }
  bool all_loaded() const { return all_loaded_; }
  const Pace& pace() const { return pace_; }
  Pace& pace() { return pace_; }
  /// Leases that newcomers got and that have not ended.
  int64_t newcomer_leases() const { return newcomer_leases_; }

 private:
  friend class Tickets;

  TaskStatus status_;
  Progress progress_;
  TicketQueue queue_;
  Preferences preferences_;
  TicketId loaded_to_ = 0;
  bool all_loaded_ = false;
  Pace pace_;
  int64_t newcomer_leases_ = 0;
};

}  // namespace kaiseki::dist
