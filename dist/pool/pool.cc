// SPDX-License-Identifier: MIT
// The author's side of the pool: projects, tasks, tickets, results and blobs.
#include "dist/pool/pool.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/error.h"
#include "base/sha256.h"
#include "dist/pool/pool_impl.h"

namespace kaiseki::dist {
namespace {

constexpr double kKeepSeconds = 0.5;  // a ticket is kept this long for the node that it prefers

template <typename... Args>
void expect(bool condition, std::string_view operation, const Args&... args) {
  if (!condition) throw Error(message(operation, args...));
}

bool is_positive(double value) { return std::isfinite(value) && value > 0; }

void expect_sound(const TicketSpec& ticket, const BlobStore& blobs, std::set<BlobHash>& known) {
  constexpr std::string_view kOperation = "add_tickets";
  expect(ticket.input.size() <= kMaxInput, kOperation, "expected at most ", kMaxInput,
         " bytes of input, got ", ticket.input.size(), "; put larger inputs into a blob");
  expect(is_positive(ticket.work), kOperation, "expected work above 0, got ", ticket.work);
  expect(ticket.max_result_bytes <= INT64_MAX, kOperation, "expected max_result_bytes below 2^63, ",
         "got ", ticket.max_result_bytes);
  for (const BlobHash& blob : ticket.blobs) {
    if (known.contains(blob)) continue;
    expect(is_sha256(blob) && blobs.contains(blob), kOperation, "expected blobs that were put, ",
           "got '", blob, "'");
    known.insert(blob);
  }
}

void set_state(PoolImpl& pool, TaskId id, TaskState state, std::string_view operation) {
  PoolTask& task = pool.tickets.task(id, operation);
  expect(!task.is(TaskState::cancelled), operation, "expected an active task, got task ", id,
         ", which was cancelled");
  Change change(pool.transaction, true);
  pool.tickets.set_state(task, state);
  pool.reports.task_changed(id);
  if (state == TaskState::running) pool.reports.work_available();
  change.commit();
}

}  // namespace

Pool::Pool(Store& store, BlobStore& blobs, PoolOptions options)
    : impl_(std::make_unique<PoolImpl>(store, blobs, std::move(options))) {}

Pool::~Pool() = default;

ProjectId Pool::create_project(const std::string& name, double weight,
                               std::optional<double> lapse) {
  expect(!name.empty(), "create_project", "expected a name, got none");
  expect(is_positive(weight), "create_project", "expected a weight above 0, got ", weight);
  expect(!lapse || is_positive(*lapse), "create_project", "expected a lapse above 0, got ",
         lapse.value_or(0));
  Change change(impl_->transaction, true);
  const ProjectId id = impl_->accounts.add(name, weight, lapse, impl_->now());
  change.commit();
  return id;
}

TaskId Pool::create_task(ProjectId project, const TaskSpec& spec) {
  constexpr std::string_view kOperation = "create_task";
  impl_->accounts.expect(project, kOperation);
  expect(!spec.function.empty() || !spec.module.empty(), kOperation,
         "expected a function, a module or both, got neither");
  expect(spec.module.empty() || (is_sha256(spec.module) && impl_->blobs.contains(spec.module)),
         kOperation, "expected a module that was put as a blob, got '", spec.module, "'");
  expect(spec.max_attempts >= 1, kOperation, "expected max_attempts of at least 1, got ",
         spec.max_attempts);
  expect(spec.verification == Verification::none || spec.quorum >= 2, kOperation,
         "expected a quorum of at least 2, got ", spec.quorum);
  Change change(impl_->transaction, true);
  const TaskId id = impl_->tickets.add_task(project, spec).id();
  change.commit();
  return id;
}

TicketId Pool::add_tickets(TaskId id, std::span<const TicketSpec> tickets) {
  PoolTask& task = impl_->tickets.task(id, "add_tickets");
  expect(!tickets.empty(), "add_tickets", "expected at least one ticket, got none");
  expect(!task.is(TaskState::cancelled), "add_tickets", "expected an active task, got task ", id,
         ", which was cancelled");
  std::set<BlobHash> known;
  for (const TicketSpec& ticket : tickets) expect_sound(ticket, impl_->blobs, known);
  Change change(impl_->transaction, true);
  const TicketId first = impl_->tickets.add(task, tickets, impl_->now() + kKeepSeconds);
  if (task.is(TaskState::running)) impl_->reports.work_available();
  change.commit();
  return first;
}

void Pool::pause(TaskId task) { set_state(*impl_, task, TaskState::paused, "pause"); }
void Pool::resume(TaskId task) { set_state(*impl_, task, TaskState::running, "resume"); }

void Pool::cancel(TaskId id) {
  PoolTask& task = impl_->tickets.task(id, "cancel");
  Change change(impl_->transaction, true);
  impl_->tickets.set_state(task, TaskState::cancelled);
  impl_->lifecycle.cancel(id);
  impl_->reports.task_changed(id);
  change.commit();
}

void Pool::set_priority(TaskId id, int priority) {
  PoolTask& task = impl_->tickets.task(id, "set_priority");
  Change change(impl_->transaction, true);
  impl_->tickets.set_priority(task, priority);
  change.commit();
}

void Pool::set_weight(ProjectId id, double weight) {
  impl_->accounts.expect(id, "set_weight");
  expect(is_positive(weight), "set_weight", "expected a weight above 0, got ", weight);
  Change change(impl_->transaction, true);
  impl_->accounts.set_weight(id, weight);
  change.commit();
}

void Pool::drop(TaskId id, TicketId through) {
  PoolTask& task = impl_->tickets.task(id, "drop");
  Change change(impl_->transaction, true);
  impl_->tickets.drop(task, through);
  change.commit();
}

void Pool::abandon(TaskId id, TicketId through) {
  PoolTask& task = impl_->tickets.task(id, "abandon");
  Change change(impl_->transaction, true);
  impl_->lifecycle.abandon(id, through);
  impl_->tickets.abandon(task, through);
  impl_->reports.task_changed(id);
  impl_->tickets.drop(task, through);
  change.commit();
}

void Pool::remove_project(ProjectId id) {
  impl_->accounts.expect(id, "remove_project");
  Change change(impl_->transaction, true);
  impl_->accounts.remove(id);
  for (TaskId task : impl_->tickets.of_project(id)) {
    impl_->lifecycle.abandon(task, INT64_MAX);
    impl_->reports.task_changed(task);
  }
  impl_->tickets.remove_tasks_of(id);
  change.commit();
}

void Pool::keep_blob(ProjectId project, const BlobHash& blob) {
  impl_->accounts.expect(project, "keep_blob");
  impl_->blobs.size(blob);
  Change change(impl_->transaction, true);
  impl_->store.keep_blob(project, blob);
  change.commit();
}

void Pool::release_blob(ProjectId project, const BlobHash& blob) {
  impl_->accounts.expect(project, "release_blob");
  Change change(impl_->transaction, true);
  impl_->store.release_blob(project, blob);
  change.commit();
}

void Pool::renew(ProjectId id) {
  impl_->accounts.expect(id, "renew");
  impl_->accounts.renew(id, impl_->now());
  impl_->accounts.count(PoolEvent::renewed);
}

std::vector<ProjectStatus> Pool::projects() const { return impl_->accounts.projects(); }

std::vector<TaskStatus> Pool::tasks() const {
  std::vector<TaskStatus> all;
  for (const auto& [id, task] : impl_->tickets.tasks()) all.push_back(task.status());
  return all;
}

bool Pool::has_project(ProjectId id) const { return impl_->accounts.has(id); }
bool Pool::has_task(TaskId id) const { return impl_->tickets.tasks().contains(id); }
TaskStatus Pool::task(TaskId id) const { return impl_->tickets.task(id, "task").status(); }
Progress Pool::progress(TaskId id) const { return impl_->tickets.task(id, "progress").progress(); }

std::string Pool::wait_reason(TaskId id) const {
  return impl_->eligibility.wait_reason(impl_->tickets.task(id, "wait_reason"));
}

std::map<TaskId, std::string> Pool::waiting() const {
  std::map<TaskId, std::string> waiting;
  for (const auto& [id, task] : impl_->tickets.tasks())
    if (std::string why = impl_->eligibility.wait_reason(task); !why.empty())
      waiting[id] = std::move(why);
  return waiting;
}

std::vector<Finished> Pool::finished(TaskId id, TicketId after, int limit) const {
  impl_->tickets.task(id, "finished");
  return impl_->store.finished(id, after, limit);
}

std::vector<Finished> Pool::ended(TaskId id, int64_t after, int limit) const {
  impl_->tickets.task(id, "ended");
  return impl_->store.ended(id, after, limit);
}

ByteVector Pool::result(const Finished& finished) const {
  return finished.blob.empty() ? finished.result : impl_->blobs.read(finished.blob);
}

std::vector<TicketError> Pool::errors(TaskId id, int limit) const {
  impl_->tickets.task(id, "errors");
  return impl_->store.errors(id, limit);
}

void Pool::batch(const std::function<void()>& calls) {
  expect(!impl_->transaction.is_open(), "batch", "a batch cannot contain another batch");
  Change change(impl_->transaction, false);
  calls();
  change.commit();
}

int64_t Pool::discard_blobs(ProjectId project, std::span<const BlobHash> blobs) {
  impl_->accounts.expect(project, "discard_blobs");
  Change change(impl_->transaction, true);
  for (const BlobHash& blob : blobs) impl_->store.release_blob(project, blob);
  change.commit();
  impl_->garbage.add(blobs);
  return impl_->garbage.collect(impl_->now());
}

int64_t Pool::collect_blobs(double min_age) {
  std::unordered_set<BlobHash> used;
  impl_->store.each_blob([&](const BlobHash& hash) { used.insert(hash); });
  return impl_->blobs.collect([&](const BlobHash& hash) { return used.contains(hash); }, min_age);
}

uint64_t Pool::counted(PoolEvent event) const { return impl_->accounts.counted(event); }

}  // namespace kaiseki::dist
