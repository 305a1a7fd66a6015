// SPDX-License-Identifier: MIT
#include "dist/pool/tickets.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace kaiseki::dist {
namespace {

constexpr int kLoadAtOnce = 256;
constexpr double kLongestPause = 60;  // seconds between two attempts

bool is_among(const std::vector<FailureRow>& failures, const NodeId& node,
              const std::string& source) {
  return std::ranges::any_of(failures, [&](const FailureRow& failure) {
    return failure.node == node || (!source.empty() && failure.source == source);
  });
}

}  // namespace

bool PoolTicket::has_failed(const NodeId& node, const std::string& source) const {
  return is_among(failures_, node, source);
}

bool PoolTicket::has_hung(const NodeId& node, const std::string& source) const {
  return is_among(hung_, node, source);
}

void Tickets::load() {
  tasks_.clear(), by_project_.clear(), tickets_.clear();
  for (const TaskStatus& status : store_.tasks()) {
    const Progress progress{store_.count(status.id, TicketState::open), 0,
                            store_.count(status.id, TicketState::done),
                            store_.count(status.id, TicketState::dead)};
    tasks_.emplace(status.id, PoolTask(status, progress));
    by_project_[status.project].push_back(status.id);
  }
  for (auto& [project, tasks] : by_project_) sort(tasks);
  for (const TicketRow& row : store_.touched()) insert(row);
  for (const FailureRow& failure : store_.failures())
    tickets_.at(failure.ticket).failures_.push_back(failure);
}

void Tickets::sort(std::vector<TaskId>& tasks) const {
  std::ranges::sort(tasks, [this](TaskId a, TaskId b) {
    const int first = tasks_.at(a).spec().priority, second = tasks_.at(b).spec().priority;
    return first != second ? first > second : a < b;
  });
}

PoolTask& Tickets::task(TaskId id, std::string_view operation) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end())
    throw Error(message(operation, "expected a task of this pool, got ", id));
  return found->second;
}

const std::vector<TaskId>& Tickets::of_project(ProjectId project) const {
  static const std::vector<TaskId> kNone;
  const auto found = by_project_.find(project);
  return found == by_project_.end() ? kNone : found->second;
}

PoolTask& Tickets::add_task(ProjectId project, const TaskSpec& spec) {
  const TaskId id = store_.add_task(project, spec);
  PoolTask& task =
      tasks_.emplace(id, PoolTask(TaskStatus{id, project, spec, TaskState::running})).first->second;
  std::vector<TaskId>& tasks = by_project_[project];
  tasks.push_back(id);
  sort(tasks);
  return task;
}

void Tickets::set_state(PoolTask& task, TaskState state) {
  store_.set_task(task.id(), state, task.spec().priority);
  task.status_.state = state;
  if (state == TaskState::cancelled) task.preferences_.remove_through(INT64_MAX);
}

void Tickets::set_priority(PoolTask& task, int priority) {
  store_.set_task(task.id(), task.status().state, priority);
  task.status_.spec.priority = priority;
  sort(by_project_.at(task.status().project));
}

void Tickets::remove_tasks_of(ProjectId project) {
  for (TaskId task : of_project(project)) tasks_.erase(task);
  by_project_.erase(project);
}

TicketId Tickets::add(PoolTask& task, std::span<const TicketSpec> tickets, double preferred_until) {
  const TicketId first = store_.add_tickets(task.id(), tickets);
  for (size_t i = 0; i < tickets.size(); ++i)
    if (!tickets[i].prefer.empty())
      task.preferences_.add(first + static_cast<TicketId>(i), tickets[i].prefer, preferred_until);
  task.progress_.free += static_cast<int64_t>(tickets.size());
  task.all_loaded_ = false;
  return first;
}

void Tickets::drop(PoolTask& task, TicketId through) {
  store_.drop(task.id(), through);
  task.progress_.done = store_.count(task.id(), TicketState::done);
  task.progress_.dead = store_.count(task.id(), TicketState::dead);
}

void Tickets::abandon(PoolTask& task, TicketId through) {
  store_.abandon(task.id(), through);
  task.preferences_.remove_through(through);
  task.progress_.free = store_.count(task.id(), TicketState::open) - task.progress_.leased;
}

PoolTicket* Tickets::find(TicketId id) {
  const auto found = tickets_.find(id);
  return found == tickets_.end() ? nullptr : &found->second;
}

PoolTicket& Tickets::insert(const TicketRow& row) {
  return tickets_.emplace(row.id, PoolTicket(row, task(row.task, "load"))).first->second;
}

PoolTicket* Tickets::load(TicketId id) {
  const auto row = store_.ticket(id);
  return row && row->state == TicketState::open ? &insert(*row) : nullptr;
}

std::vector<PoolTicket*> Tickets::load_fresh(PoolTask& task) {
  const auto rows = store_.fresh(task.id(), task.loaded_to_, kLoadAtOnce);
  std::vector<PoolTicket*> loaded;
  for (const TicketRow& row : rows)
    if (!tickets_.contains(row.id)) loaded.push_back(&insert(row));
  if (!rows.empty()) task.loaded_to_ = rows.back().id;
  task.all_loaded_ = rows.size() < kLoadAtOnce;
  return loaded;
}

std::vector<PoolTicket*> Tickets::of_task(TaskId task, TicketId through) {
  std::vector<PoolTicket*> open;
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return open;
  for (const TicketId id : found->second.queue_.through(through)) open.push_back(&tickets_.at(id));
  return open;
}

void Tickets::place(PoolTicket& ticket, const TicketDemand& demand, double now) {
  using Place = TicketQueue::Place;
  PoolTask& task = *ticket.task_;
  const double not_before = ticket.row_.not_before;
  TicketQueue::Position to{Place::outstanding, demand.last_issued};
  if (demand.wanted > 0 && not_before <= now)
    to = {Place::ready};
  else if (demand.wanted > 0)
    to = {Place::waiting, not_before};
  task.queue_.move(ticket.id(), ticket.position_, to);
  task.progress_.leased += demand.leased - ticket.leased_;
  task.progress_.free -= demand.leased - ticket.leased_;
  ticket.leased_ = demand.leased;
}

void Tickets::failed(PoolTicket& ticket, const TicketFailure& failure, double now) {
  TicketRow& row = ticket.row_;
  row.failures += failure.attempts;
  if (failure.hung) ticket.hung_.push_back(failure.by);
  if (!ticket.has_failed(failure.by.node, failure.by.source)) {
    ticket.failures_.push_back(failure.by);
    store_.add_failure(failure.by);
  }
  const double pause = std::exp2(static_cast<double>(row.failures - 1));
  row.not_before = now + (failure.at_once ? 0 : std::min(pause, kLongestPause));
  store_.set_failures(row.id, row.failures, row.not_before);
}

int64_t Tickets::finish(PoolTicket& ticket, const Finished& finished) {
  const auto sequence = store_.finish(finished);
  if (!sequence)
    throw Error(message("pool", "ticket ", ticket.id(),
                        " has already ended; another process changed the store"));
  Progress& progress = ticket.task_->progress_;
  --(ticket.leased_ ? progress.leased : progress.free);
  ++(finished.dead ? progress.dead : progress.done);
  return *sequence;
}

void Tickets::forget(PoolTicket& ticket) {
  PoolTask& task = *ticket.task_;
  task.queue_.remove(ticket.id(), ticket.position_);
  task.preferences_.remove(ticket.id());
  tickets_.erase(TicketId(ticket.id()));
}

void Tickets::abandon(PoolTicket& ticket) {
  ticket.task_->progress_.leased -= ticket.leased_;
  forget(ticket);
}

}  // namespace kaiseki::dist
