// SPDX-License-Identifier: MIT
// Pool: projects, tasks and tickets, and the nodes that compute them (Sashimi, paper 003 section
// 3.3). No networking: a coordinator calls it from one thread. docs/pool.md has the ticket's life.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "dist/pool/event.h"
#include "dist/pool/options.h"

namespace kaiseki::dist {

class BlobStore;
class Store;
struct PoolImpl;

class Pool {
 public:
  /// Continues from the state in the store. All leases end, because their nodes have to rejoin.
  /// `store` and `blobs` must outlive the pool.
  Pool(Store& store, BlobStore& blobs, PoolOptions options = {});
  ~Pool();

  // The author's side. A method throws Error if an id is unknown or a spec is not valid. When it
  // returns, the change is on the disk.
  /// If renew() is not called for `lapse` seconds, tick() deletes the project. This removes the
  /// projects of authors that were killed. A restart of the pool renews all projects.
  ProjectId create_project(const std::string& name, double weight = 1,
                           std::optional<double> lapse = {});
  void renew(ProjectId project);
  TaskId create_task(ProjectId project, const TaskSpec& spec);
  /// Returns the first ticket's id. The others follow without a gap. A task may get tickets at any
  /// time.
  TicketId add_tickets(TaskId task, std::span<const TicketSpec> tickets);
  void pause(TaskId task);
  void resume(TaskId task);
  /// Ends the task for good. Open tickets are no longer issued. Late results are stale.
  void cancel(TaskId task);
  void set_priority(TaskId task, int priority);
  void set_weight(ProjectId project, double weight);
  /// Deletes done and dead tickets up to `through`, so that tasks that run for weeks stay small.
  void drop(TaskId task, TicketId through);
  /// Deletes all tickets up to `through`, open ones too. Late results are stale.
  void abandon(TaskId task, TicketId through);
  /// Deletes a project with its tasks and results.
  void remove_project(ProjectId project);
  /// The project refers to the blob. Blobs without any reference are deleted by collect_blobs().
  void keep_blob(ProjectId project, const BlobHash& blob);
  void release_blob(ProjectId project, const BlobHash& blob);
  /// Releases the blobs and deletes those without any other reference. A blob that was put in the
  /// last 5 seconds may be about to get one. A later tick() deletes it. Returns the number of blobs
  /// that were deleted at once.
  int64_t discard_blobs(ProjectId project, std::span<const BlobHash> blobs);

  std::vector<ProjectStatus> projects() const;
  std::vector<TaskStatus> tasks() const;
  bool has_project(ProjectId project) const;
  bool has_task(TaskId task) const;
  TaskStatus task(TaskId task) const;
  Progress progress(TaskId task) const;
  /// The reason why no ticket of the task can end now, and advice. Too few nodes can compute it, or
  /// too few can confirm each other's results. Empty: there are enough.
  std::string wait_reason(TaskId task) const;
  /// All tasks for which wait_reason() is not empty, with the reason.
  std::map<TaskId, std::string> waiting() const;
  /// Ended tickets with ids above `after`, by id. For tasks that have ended.
  std::vector<Finished> finished(TaskId task, TicketId after = 0, int limit = 1000) const;
  /// Ended tickets with a sequence above `after`, by sequence. For tasks that run.
  std::vector<Finished> ended(TaskId task, int64_t after = 0, int limit = 1000) const;
  /// The result's bytes, from the ticket or from its blob.
  ByteVector result(const Finished& finished) const;
  std::vector<TicketError> errors(TaskId task, int limit = 100) const;

  // The nodes' side. A method throws Error if the node is unknown. Mistakes of a hostile node are
  // answered, not thrown.
  NodeIdentity join(const NodeInfo& info);
  /// Connects a node that has joined before. Its leases end. Returns false if the key is wrong or
  /// the node is expelled.
  bool rejoin(const NodeIdentity& identity, const NodeInfo& info);
  /// Issues up to `count` tickets: fewer if there are fewer, or if the node holds enough.
  std::vector<Lease> lease(const NodeId& node, int count);
  /// Whether lease() may issue a ticket that is late at another node. This is fast.
  bool may_have_late_tickets() const;
  /// Connected nodes without leases that open tickets prefer. Call lease() for them first.
  std::vector<NodeId> preferred_idle_nodes() const;
  /// Records that the node asks for tickets, as lease() does. The pool keeps tickets only for nodes
  /// that ask. Returns false if lease() would issue nothing, for reasons that do not depend on the
  /// tickets. This is fast.
  bool ask_to_lease(const NodeId& node);
  /// Whether the token belongs to a lease of this ticket to this node, ended or not.
  bool issued(const NodeId& node, TicketId ticket, const std::string& token) const;
  /// Accepts a result. The first valid result counts. Answer the node only after this function, or
  /// batch() around it, has returned.
  Answer accept(const NodeId& node, const std::string& token, ByteView result);
  /// The node does not compute this ticket. This counts as a failure of the node. With an `error`
  /// it is also a failed attempt. The node gets the ticket again only if no other node could
  /// compute it.
  Answer give_back(const NodeId& node, const std::string& token, const std::string& error = {});
  /// As give_back(), but the coordinator asked for it. It does not count as a failure.
  Answer take_back(const NodeId& node, const std::string& token);
  /// The node's leases end. A late result still counts while the ticket is open.
  void disconnected(const NodeId& node);
  /// Ends the node's leases and deletes its votes on open tickets. No further result of it is
  /// accepted.
  void expel(const NodeId& node, const ExpulsionReason& reason);
  std::optional<NodeStatus> node(const NodeId& node) const;
  /// The connected nodes.
  std::vector<NodeStatus> nodes() const;
  /// Nodes that are not connected, but were in the last `seconds`. The latest come first.
  std::vector<NodeStatus> away(double seconds, int limit = 200) const;
  /// Changes when a node joins, leaves or is expelled.
  uint64_t membership_version() const;

  /// Ends leases past their deadline. Removes the projects that lapsed, and returns them. Call it
  /// about once a second, then lease() for waiting nodes. A node may have finished its rest, or a
  /// ticket may be late.
  std::vector<ProjectStatus> tick();
  /// Makes all changes of `calls` one transaction, which is much faster than one for each call. The
  /// changes are in the store when this returns. An exception undoes all of them. Then discard the
  /// values that the calls returned.
  void batch(const std::function<void()>& calls);
  /// Deletes blobs without a reference that are older than `min_age` seconds. Returns their number.
  int64_t collect_blobs(double min_age = 3600);
  /// Deletes nodes that were not connected for a month. If no result of a node counted, a day is
  /// enough. A deleted node that comes back starts with new counts. Returns the number of nodes.
  int64_t collect_nodes();
  /// The number of such events since the start. For metrics.
  uint64_t counted(PoolEvent event) const;

 private:
  std::unique_ptr<PoolImpl> impl_;
};

}  // namespace kaiseki::dist
