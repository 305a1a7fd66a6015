// SPDX-License-Identifier: MIT
#include "dist/pool/pool_state.h"

#include <algorithm>
#include <chrono>

#include "dist/pool/crash_point.h"
#include "dist/pool/crypto.h"
#include "matrix/error.h"

namespace kaiseki::dist {
namespace {

double system_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Whether one of the rows is of the node, or of another of its source.
template <typename Row>
bool has_of(const std::vector<Row>& rows, const NodeId& node, const std::string& source) {
  return std::ranges::any_of(rows, [&](const Row& row) {
    return row.node == node || (!source.empty() && row.source == source);
  });
}

}  // namespace

const LeaseRow* OpenTicket::lease_of(const NodeId& node) const {
  auto found = std::ranges::find(leases, node, &LeaseRow::node);
  return found == leases.end() ? nullptr : &*found;
}

bool OpenTicket::voted(const NodeId& node, const std::string& source) const {
  return has_of(votes, node, source);
}

bool OpenTicket::failed(const NodeId& node, const std::string& source) const {
  return has_of(failures, node, source);
}

int64_t OpenTicket::agreed() const {
  int64_t most = 0;
  for (const VoteRow& vote : votes)
    most = std::max<int64_t>(most, std::ranges::count(votes, vote.hash, &VoteRow::hash));
  return most;
}

Pool::Impl::Impl(Store& the_store, BlobStore& the_blobs, PoolOptions the_options)
    : store(the_store), blobs(the_blobs), options(std::move(the_options)) {
  if (!options.clock) options.clock = system_seconds;
  if (!options.random) options.random = random_bytes;
  key = store.setting("key");
  if (key.empty()) {
    std::byte secret[32];
    options.random(secret);
    key = to_hex(secret);
    store.begin();
    store.set_setting("key", key);
    store.commit(true);
  }
  load();
  end_old_leases();
}

/// A ticket may never have got to its node before the process died: its deadline is not waited for.
void Pool::Impl::end_old_leases() {
  if (deadlines.empty()) return;
  reporting = true;  // whoever is told may not be there yet: it is told with the first change
  try {
    PoolChange change(*this, false);
    for (auto& [id, node] : nodes) end_all_leases(node);
    change.done();
  } catch (const StoreLost&) {
    throw;
  } catch (const Error&) {  // On a full disk they end by their deadlines.
  }
  reporting = false;
}

void Pool::Impl::load() {
  loaded = false;
  ++comings;
  projects.clear(), tasks.clear(), tickets.clear(), deadlines.clear(), changed.clear();
  for (auto entry = nodes.begin(); entry != nodes.end();) {
    NodeEntry& node = entry->second;
    const auto row = store.node(entry->first);
    if (!row || !node.connected) {
      entry = nodes.erase(entry);
      continue;
    }
    node.row = *row;
    node.leases.clear(), node.next.clear(), node.changed = false;
    ++entry;
  }
  for (const ProjectStatus& status : store.projects()) projects[status.id].status = status;
  for (const TaskStatus& status : store.tasks()) {
    TaskEntry& task = tasks[status.id];
    task.status = status;
    task.progress = {store.count(status.id, TicketState::open), 0,
                     store.count(status.id, TicketState::done),
                     store.count(status.id, TicketState::dead)};
    projects.at(status.project).tasks.push_back(status.id);
  }
  for (auto& [id, project] : projects) sort_tasks(project);
  for (const TicketRow& row : store.touched()) {
    OpenTicket& ticket = add(row);
    if (ticket.task->status.spec.verification == Verification::quorum)
      ticket.votes = store.votes(row.id);
  }
  for (const FailureRow& failure : store.failures())
    tickets.at(failure.ticket).failures.push_back(failure);
  for (const LeaseRow& lease : store.leases()) {
    OpenTicket& ticket = tickets.at(lease.ticket);
    ticket.leases.push_back(lease);
    ticket.given = std::max(ticket.given, lease.issued);
    deadlines.emplace(lease.deadline, lease.ticket, lease.epoch);
    node(lease.node, "load").leases.emplace(lease.ticket, lease.epoch);
  }
  for (auto& [id, ticket] : tickets) place(ticket);
  loaded = true;
}

void Pool::Impl::commit() {
  for (const NodeEntry* node : changed) store.put_node(node->row);
  crash_point("commit.before");
  store.commit(durable);
  crash_point("commit.after");
  open = durable = false;
  for (NodeEntry* node : changed) {
    node->changed = false;
    if (!node->connected && node->leases.empty()) nodes.erase(NodeId(node->row.id));
  }
  changed.clear();
  if (options.on_finished)
    for (Finished& finished : ended)
      reports.push_back([this, f = std::move(finished)] { options.on_finished(f); });
  if (options.on_unwanted)
    for (TicketId ticket : not_wanted)
      reports.push_back([this, ticket] { options.on_unwanted(ticket); });
  if (options.on_expelled)
    for (const Expulsion& one : put_out)
      reports.push_back([this, one] { options.on_expelled(one); });
  if (options.on_task)
    for (TaskId task : changed_tasks) reports.push_back([this, task] { options.on_task(task); });
  if (work && options.on_work) reports.push_back([this] { options.on_work(); });
  ended.clear(), not_wanted.clear(), put_out.clear(), changed_tasks.clear(), work = false;
}

void Pool::Impl::undo() noexcept {
  store.rollback();
  open = durable = broken = work = false;
  ended.clear(), not_wanted.clear(), put_out.clear(), changed_tasks.clear();
  try {
    load();
  } catch (const std::exception&) {
    loaded = false;  // the next change tries again
  }
}

void Pool::Impl::report() {
  if (reporting || open) return;
  reporting = true;
  struct Reset {
    bool& flag;
    ~Reset() { flag = false; }
  } reset{reporting};
  while (!reports.empty()) {
    auto next = std::move(reports.front());
    reports.pop_front();
    next();
  }
}

PoolChange::PoolChange(Pool::Impl& pool, bool durable) : pool_(pool), own_(!pool.open) {
  if (own_) {
    if (!pool.loaded) pool.load();
    pool.store.begin();
    pool.open = true;
  }
  expect_whole();  // a full disk has ended the transaction: what came now would stay alone
  pool.durable |= durable;
}

void PoolChange::expect_whole() const {
  if (pool_.broken)
    throw Error(message("pool",
                        "expected each call of the batch to succeed, got a failure of the "
                        "store in one; nothing of the batch was kept"));
}

PoolChange::~PoolChange() {
  if (done_) return;
  if (own_)
    pool_.undo();
  else
    pool_.broken = true;  // whoever opened the transaction may not commit it any more
}

void PoolChange::done() {
  expect_whole();
  if (own_) pool_.commit();
  done_ = true;
  pool_.report();
}

ProjectEntry& Pool::Impl::project(ProjectId id, std::string_view operation) {
  auto found = projects.find(id);
  if (found == projects.end())
    throw Error(message(operation, "expected a project of this pool, got ", id));
  return found->second;
}

TaskEntry& Pool::Impl::task(TaskId id, std::string_view operation) {
  auto found = tasks.find(id);
  if (found == tasks.end())
    throw Error(message(operation, "expected a task of this pool, got ", id));
  return found->second;
}

NodeEntry& Pool::Impl::node(const NodeId& id, std::string_view operation) {
  auto found = nodes.find(id);
  if (found != nodes.end()) return found->second;
  const auto row = store.node(id);
  if (!row)
    throw Error(message(operation, "expected a node that has joined this pool, got '", id, "'"));
  NodeEntry& node = nodes[id];
  node.row = *row;
  node.info.name = row->name, node.info.device = row->device;
  node.last_lease = row->last_seen;  // or a bad node could come back for the next ticket at once
  return node;
}

OpenTicket* Pool::Impl::ticket(TicketId id) {
  if (auto found = tickets.find(id); found != tickets.end()) return &found->second;
  const auto row = store.ticket(id);
  if (!row || row->state != TicketState::open) return nullptr;
  OpenTicket& ticket = add(*row);
  place(ticket);
  return &ticket;
}

OpenTicket& Pool::Impl::add(const TicketRow& row) {
  OpenTicket& ticket = tickets[row.id];
  ticket.row = row;
  ticket.old = row.epoch > 0;
  ticket.task = &task(row.task, "load");
  return ticket;
}

void Pool::Impl::change(NodeEntry& node) {
  if (!node.changed) changed.push_back(&node);
  node.changed = true;
}

void Pool::Impl::sort_tasks(ProjectEntry& project) {
  std::ranges::sort(project.tasks, [this](TaskId a, TaskId b) {
    const int first = tasks.at(a).status.spec.priority, second = tasks.at(b).status.spec.priority;
    return first != second ? first > second : a < b;
  });
}

}  // namespace kaiseki::dist
