// SPDX-License-Identifier: MIT
// The author's side: projects, tasks, tickets, what came of them; and what keeps the pool's house.
#include "dist/pool/pool.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "dist/pool/pool_state.h"
#include "matrix/error.h"

namespace kaiseki::dist {
namespace {

constexpr double kKeepSeconds = 0.5;  // a ticket for the node that it prefers

template <typename... Args>
void expect(bool condition, std::string_view operation, const Args&... args) {
  if (!condition) throw Error(message(operation, args...));
}

constexpr double kYoungest = 5;  // seconds: younger blobs may be about to be named

bool is_positive(double value) { return std::isfinite(value) && value > 0; }

void expect_sound(const TicketSpec& ticket, const BlobStore& blobs, std::set<BlobHash>& known) {
  constexpr std::string_view kOperation = "add_tickets";
  expect(ticket.input.size() <= kMaxInput, kOperation, "expected at most ", kMaxInput,
         " bytes of input, got ", ticket.input.size(), "; put what is larger into a blob");
  expect(is_positive(ticket.work), kOperation, "expected work above 0, got ", ticket.work);
  expect(ticket.max_result_bytes <= INT64_MAX, kOperation, "expected max_result_bytes below 2^63, ",
         "got ", ticket.max_result_bytes);
  for (const BlobHash& blob : ticket.blobs) {
    if (known.contains(blob)) continue;
    expect(is_blob_hash(blob) && blobs.contains(blob), kOperation, "expected blobs that were put, ",
           "got '", blob, "'");
    known.insert(blob);
  }
}

void set_state(Pool::Impl& pool, TaskId id, TaskState state, std::string_view operation) {
  TaskEntry& task = pool.task(id, operation);
  expect(task.status.state != TaskState::cancelled, operation, "expected a task that goes on, got ",
         "task ", id, ", which was cancelled");
  PoolChange change(pool, true);
  pool.store.set_task(id, state, task.status.spec.priority);
  task.status.state = state;
  pool.changed_tasks.push_back(id);
  pool.work |= state == TaskState::running;
  change.done();
}

/// Also of tickets that are only in the store.
void forget_preferences(TaskEntry& task, TicketId through) {
  const auto end = task.preferred.upper_bound(through);
  for (auto at = task.preferred.begin(); at != end; ++at)
    task.by_preference.erase({at->second.node, at->first});
  task.preferred.erase(task.preferred.begin(), end);
}

/// Takes what is in memory of a task's open tickets out of it.
void forget_tickets(Pool::Impl& pool, TaskId task, TicketId through) {
  std::vector<OpenTicket*> open;
  for (auto& [id, ticket] : pool.tickets)
    if (ticket.row.task == task && id <= through) open.push_back(&ticket);
  for (OpenTicket* ticket : open) {
    ticket->task->progress.leased -= ticket->leased;
    pool.forget(*ticket);
  }
}

}  // namespace

Pool::Pool(Store& store, BlobStore& blobs, PoolOptions options)
    : impl_(std::make_unique<Impl>(store, blobs, std::move(options))) {
  for (const auto& [id, task] : impl_->tasks)
    expect(task.status.spec.verification != Verification::adaptive ||
               task.status.state == TaskState::cancelled || impl_->options.verify,
           "pool", kNoVerify);
}

Pool::~Pool() = default;

ProjectId Pool::create_project(const std::string& name, double weight) {
  expect(!name.empty(), "create_project", "expected a name, got none");
  expect(is_positive(weight), "create_project", "expected a weight above 0, got ", weight);
  PoolChange change(*impl_, true);
  const ProjectId id = impl_->store.add_project(name, weight);
  impl_->projects[id].status = {id, name, weight};
  change.done();
  return id;
}

TaskId Pool::create_task(ProjectId project_id, const TaskSpec& spec) {
  constexpr std::string_view kOperation = "create_task";
  ProjectEntry& project = impl_->project(project_id, kOperation);
  expect(!spec.function.empty() || !spec.module.empty(), kOperation,
         "expected a function, a module or both, got neither");
  expect(spec.module.empty() || (is_blob_hash(spec.module) && impl_->blobs.contains(spec.module)),
         kOperation, "expected a module that was put as a blob, got '", spec.module, "'");
  expect(spec.max_attempts >= 1, kOperation, "expected max_attempts of at least 1, got ",
         spec.max_attempts);
  expect(spec.verification != Verification::quorum || spec.quorum >= 2, kOperation,
         "expected a quorum of at least 2, got ", spec.quorum);
  expect(spec.verification != Verification::adaptive || impl_->options.verify, kOperation,
         kNoVerify);
  PoolChange change(*impl_, true);
  const TaskId id = impl_->store.add_task(project_id, spec);
  impl_->tasks[id].status = {id, project_id, spec, TaskState::running};
  project.tasks.push_back(id);
  impl_->sort_tasks(project);
  change.done();
  return id;
}

TicketId Pool::add_tickets(TaskId id, std::span<const TicketSpec> tickets) {
  TaskEntry& task = impl_->task(id, "add_tickets");
  expect(!tickets.empty(), "add_tickets", "expected at least one ticket, got none");
  expect(task.status.state != TaskState::cancelled, "add_tickets",
         "expected a task that goes on, got task ", id, ", which was cancelled");
  std::set<BlobHash> known;
  for (const TicketSpec& ticket : tickets) expect_sound(ticket, impl_->blobs, known);
  PoolChange change(*impl_, true);
  const TicketId first = impl_->store.add_tickets(id, tickets);
  for (size_t i = 0; i < tickets.size(); ++i) {
    if (tickets[i].prefer.empty()) continue;
    const TicketId ticket = first + static_cast<TicketId>(i);
    task.preferred.emplace(ticket, Preference{tickets[i].prefer, impl_->now() + kKeepSeconds});
    task.by_preference.emplace(tickets[i].prefer, ticket);
  }
  task.progress.free += static_cast<int64_t>(tickets.size());
  task.all_loaded = false;
  impl_->work |= task.status.state == TaskState::running;
  change.done();
  return first;
}

void Pool::pause(TaskId task) { set_state(*impl_, task, TaskState::paused, "pause"); }
void Pool::resume(TaskId task) { set_state(*impl_, task, TaskState::running, "resume"); }

void Pool::cancel(TaskId id) {
  TaskEntry& task = impl_->task(id, "cancel");
  PoolChange change(*impl_, true);
  impl_->store.set_task(id, TaskState::cancelled, task.status.spec.priority);
  task.status.state = TaskState::cancelled;
  forget_preferences(task, INT64_MAX);
  std::vector<OpenTicket*> given;
  for (auto& [ticket_id, ticket] : impl_->tickets)
    if (ticket.row.task == id && ticket.row.epoch > 0) given.push_back(&ticket);
  for (OpenTicket* ticket : given) {
    impl_->not_wanted.push_back(ticket->row.id);
    for (const LeaseRow& lease : std::vector(ticket->leases))
      impl_->end_lease(*ticket, lease.node, lease.epoch);
    impl_->place(*ticket);
  }
  impl_->changed_tasks.push_back(id);
  change.done();
}

void Pool::set_priority(TaskId id, int priority) {
  TaskEntry& task = impl_->task(id, "set_priority");
  PoolChange change(*impl_, true);
  impl_->store.set_task(id, task.status.state, priority);
  task.status.spec.priority = priority;
  impl_->sort_tasks(impl_->projects.at(task.status.project));
  change.done();
}

void Pool::set_weight(ProjectId id, double weight) {
  ProjectEntry& project = impl_->project(id, "set_weight");
  expect(is_positive(weight), "set_weight", "expected a weight above 0, got ", weight);
  PoolChange change(*impl_, true);
  impl_->store.set_weight(id, weight);
  project.status.weight = weight;
  change.done();
}

void Pool::drop(TaskId id, TicketId through) {
  TaskEntry& task = impl_->task(id, "drop");
  PoolChange change(*impl_, true);
  impl_->store.drop(id, through);
  task.progress.done = impl_->store.count(id, TicketState::done);
  task.progress.dead = impl_->store.count(id, TicketState::dead);
  change.done();
}

void Pool::abandon(TaskId id, TicketId through) {
  TaskEntry& task = impl_->task(id, "abandon");
  PoolChange change(*impl_, true);
  impl_->store.abandon(id, through);
  forget_preferences(task, through);
  forget_tickets(*impl_, id, through);
  task.progress.free = impl_->store.count(id, TicketState::open) - task.progress.leased;
  impl_->changed_tasks.push_back(id);
  drop(id, through);
  change.done();
}

void Pool::remove_project(ProjectId id) {
  const std::vector<TaskId> tasks = impl_->project(id, "remove_project").tasks;
  PoolChange change(*impl_, true);
  impl_->store.remove_project(id);
  for (TaskId task : tasks) {
    forget_tickets(*impl_, task, INT64_MAX);
    impl_->tasks.erase(task);
    impl_->changed_tasks.push_back(task);
  }
  impl_->projects.erase(id);
  change.done();
}

void Pool::keep_blob(ProjectId project, const BlobHash& blob) {
  impl_->project(project, "keep_blob");
  impl_->blobs.size(blob);
  PoolChange change(*impl_, true);
  impl_->store.keep_blob(project, blob);
  change.done();
}

void Pool::release_blob(ProjectId project, const BlobHash& blob) {
  impl_->project(project, "release_blob");
  PoolChange change(*impl_, true);
  impl_->store.release_blob(project, blob);
  change.done();
}

std::vector<ProjectStatus> Pool::projects() const {
  std::vector<ProjectStatus> all;
  for (const auto& [id, project] : impl_->projects) all.push_back(project.status);
  return all;
}

std::vector<TaskStatus> Pool::tasks() const {
  std::vector<TaskStatus> all;
  for (const auto& [id, task] : impl_->tasks) all.push_back(task.status);
  return all;
}

TaskStatus Pool::task(TaskId id) const { return impl_->task(id, "task").status; }
Progress Pool::progress(TaskId id) const { return impl_->task(id, "progress").progress; }

std::vector<Finished> Pool::finished(TaskId id, TicketId after, int limit) const {
  impl_->task(id, "finished");
  return impl_->store.finished(id, after, limit);
}

std::vector<Finished> Pool::ended(TaskId id, int64_t after, int limit) const {
  impl_->task(id, "ended");
  return impl_->store.ended(id, after, limit);
}

ByteVector Pool::result(const Finished& finished) const {
  return finished.blob.empty() ? finished.result : impl_->blobs.read(finished.blob);
}

std::vector<TicketError> Pool::errors(TaskId id, int limit) const {
  impl_->task(id, "errors");
  return impl_->store.errors(id, limit);
}

void Pool::batch(const std::function<void()>& calls) {
  expect(!impl_->open, "batch", "expected no other batch around this one, got one");
  PoolChange change(*impl_, false);
  calls();
  change.done();
}

int64_t Pool::discard_blobs(ProjectId project, std::span<const BlobHash> blobs) {
  impl_->project(project, "discard_blobs");
  PoolChange change(*impl_, true);
  for (const BlobHash& blob : blobs) impl_->store.release_blob(project, blob);
  change.done();
  impl_->unwanted.insert(blobs.begin(), blobs.end());
  return impl_->discard_unwanted();
}

int64_t Pool::Impl::discard_unwanted() {
  int64_t removed = 0;
  std::erase_if(unwanted, [&](const BlobHash& hash) {
    if (blobs.is_younger(hash, kYoungest)) return false;
    if (!store.names_blob(hash)) removed += blobs.remove(hash);
    return true;
  });
  next_discard = now() + kYoungest;
  return removed;
}

int64_t Pool::collect_blobs(double min_age) {
  std::unordered_set<BlobHash> used;
  impl_->store.each_blob([&](const BlobHash& hash) { used.insert(hash); });
  return impl_->blobs.collect([&](const BlobHash& hash) { return used.contains(hash); }, min_age);
}

const std::map<std::string, uint64_t>& Pool::counters() const { return impl_->counters; }

}  // namespace kaiseki::dist
