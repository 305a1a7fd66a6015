// SPDX-License-Identifier: MIT
// Pool: projects, tasks and tickets, and the nodes that compute them (Sashimi, paper 003 section
// 3.3). No networking: a coordinator calls it from one thread. docs/pool.md has the ticket's life.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "dist/pool/types.h"

namespace kaiseki::dist {

class BlobStore;
class Store;

/// What PoolOptions::verify recomputes.
struct Check {
  TaskStatus task;
  TicketId ticket;
  ByteView input;
  const std::vector<BlobHash>& blobs;
  ByteView result;
};

/// A node that was put out.
struct Expulsion {
  NodeId node = {};
  std::string reason = {};
  std::string by = {};  // "pool" for a wrong result, "author" for Pool::expel()
};

struct PoolOptions {
  /// Seconds since 1970; empty: the system's clock. Deadlines live in the store, across restarts.
  std::function<double()> clock = {};
  /// Fills with secret random bytes; empty: the system's.
  std::function<void(std::span<std::byte>)> random = {};
  /// Whether a result is right, for Verification::adaptive.
  std::function<bool(const Check&)> verify = {};
  /// A ticket is done or dead. Called when that is on the disk; may call the pool.
  std::function<void(const Finished&)> on_finished = {};
  /// A ticket that was given out is done, dead, cancelled or forgotten: nobody needs to go on with
  /// it. Called like on_finished.
  std::function<void(TicketId)> on_unwanted = {};
  /// A node was put out. Called like on_finished.
  std::function<void(const Expulsion&)> on_expelled = {};
  /// A task was paused, resumed, cancelled or removed, or its open tickets were. Called like
  /// on_finished.
  std::function<void(TaskId)> on_task = {};
  /// There may be work for nodes that got none. Called like on_finished.
  std::function<void()> on_work = {};
  /// Seconds of a lease while nothing of the task is measured; it doubles as often as it passes,
  /// up to an hour; then it ends, as a failed attempt.
  double first_deadline = 60;
  double least_deadline = 10;  // seconds
  double hold_seconds = 10;    // of work that a node may hold at once
  /// Tickets that a node may hold at once of tasks with a native function, by its name: for those
  /// of which it computes one after the other, however many threads it has.
  std::map<std::string, int> most_held = {};
  /// Native functions whose author does itself what nodes do not in time: a deadline that passes
  /// is no failed attempt of their tickets.
  std::set<std::string> unhurried = {};
};

class Pool {
 public:
  /// Goes on with what the store has; leases have ended, as their nodes have to come again. Both
  /// must outlive the pool.
  Pool(Store& store, BlobStore& blobs, PoolOptions options = {});
  ~Pool();

  // The author's side. Throws Error where an id is unknown or a spec makes no sense; what returned
  // is on the disk.
  ProjectId create_project(const std::string& name, double weight = 1);
  TaskId create_task(ProjectId project, const TaskSpec& spec);
  /// The first ticket's id; the others follow without a gap. May be called again at any time.
  TicketId add_tickets(TaskId task, std::span<const TicketSpec> tickets);
  void pause(TaskId task);
  void resume(TaskId task);
  /// For good: open tickets are not given out any more, results that still come are stale.
  void cancel(TaskId task);
  void set_priority(TaskId task, int priority);
  void set_weight(ProjectId project, double weight);
  /// Forgets done and dead tickets up to this one: tasks that run for weeks stay small.
  void drop(TaskId task, TicketId through);
  /// The same of all tickets up to this one, open or not: results that still come are stale.
  void abandon(TaskId task, TicketId through);
  /// Forgets a project with all its tasks and results.
  void remove_project(ProjectId project);
  /// Blobs that tickets and tasks name are kept; others only while a project keeps them.
  void keep_blob(ProjectId project, const BlobHash& blob);
  void release_blob(ProjectId project, const BlobHash& blob);
  /// The project releases them, and those that nothing refers to leave the disk: at once, or with
  /// tick() when they were put in the last seconds, as somebody may be about to name them. How many
  /// left at once.
  int64_t discard_blobs(ProjectId project, std::span<const BlobHash> blobs);

  std::vector<ProjectStatus> projects() const;
  std::vector<TaskStatus> tasks() const;
  TaskStatus task(TaskId task) const;
  Progress progress(TaskId task) const;
  /// Why no ticket of the task can end as things are: too few nodes for its quorum. Empty: nothing
  /// keeps it.
  std::string waits(TaskId task) const;
  /// All tasks that wait, and why.
  std::map<TaskId, std::string> waiting() const;
  /// Ended tickets with ids above `after`, in the order of tickets: for tasks that are through.
  std::vector<Finished> finished(TaskId task, TicketId after = 0, int limit = 1000) const;
  /// Ended tickets with sequence above `after`, in the order in which they ended: to follow a task.
  std::vector<Finished> ended(TaskId task, int64_t after = 0, int limit = 1000) const;
  /// The result's bytes, wherever they lie.
  ByteVector result(const Finished& finished) const;
  std::vector<TicketError> errors(TaskId task, int limit = 100) const;

  // The nodes' side. Unknown nodes throw Error, what a hostile node can do is an Answer.
  NodeIdentity join(const NodeInfo& info);
  /// The same node again; what it was leased before has ended. False: the key is wrong or the node
  /// is expelled.
  bool rejoin(const NodeIdentity& identity, const NodeInfo& info);
  /// Up to `count` tickets, fewer when there are not as many or the node holds enough.
  std::vector<Lease> lease(const NodeId& node, int count);
  /// Connected nodes without tickets that open tickets prefer: ask them first.
  std::vector<NodeId> waited_for() const;
  /// False: lease() would give it nothing, whatever tickets are there. Quick. Either counts as
  /// asking: tickets are kept only for nodes that ask.
  bool may_lease(const NodeId& node);
  /// The token is of a lease of this ticket to this node, ended or not.
  bool gave(const NodeId& node, TicketId ticket, const std::string& token) const;
  /// First valid result wins. Tell the node only after this (or the batch around it) returned.
  Answer accept(const NodeId& node, const std::string& token, ByteView result);
  /// The node does not do this one; with an error's text the attempt failed. A node that has failed
  /// does not get the ticket again while others could do it.
  Answer give_back(const NodeId& node, const std::string& token, const std::string& error = {});
  /// Its leases end. A result that still comes counts while the ticket is open.
  void disconnected(const NodeId& node);
  /// Puts the node out: leases end, what it said of open tickets for a quorum goes, nothing of it
  /// is accepted any more.
  void expel(const NodeId& node, const std::string& reason);
  std::optional<NodeStatus> node(const NodeId& node) const;
  /// Those that are connected.
  std::vector<NodeStatus> nodes() const;
  /// Those that are not, but were in the last `seconds`; the latest first.
  std::vector<NodeStatus> away(double seconds, int limit = 200) const;
  /// Another number when a node came, went or was put out since.
  uint64_t comings() const;

  /// Ends leases past their deadline. Call about once a second, and then lease() for nodes that
  /// wait: tickets that are out for too long are given again.
  void tick();
  /// Everything that `calls` does is one transaction, on the disk when this returns: much faster
  /// than one by one. An exception undoes all of it; then forget what the calls returned.
  void batch(const std::function<void()>& calls);
  /// Removes blobs that nothing refers to, older than `min_age` seconds. How many.
  int64_t collect_blobs(double min_age = 3600);
  /// Forgets nodes that have not been here for a month; for a day, if they never gave a result that
  /// counted. They join anew. How many.
  int64_t collect_nodes();
  /// Counts since the start, by name: "accepted", "refused_token", ... for metrics.
  const std::map<std::string, uint64_t>& counters() const;

  struct Impl;  // pool_state.h

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::dist
