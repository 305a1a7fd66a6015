// SPDX-License-Identifier: MIT
// SqliteStore: the store in SQLite. Its methods are spread over sqlite_store.cc, sqlite_tickets.cc
// and sqlite_results.cc.
#pragma once

#include <unordered_map>

#include "dist/pool/sqlite.h"
#include "dist/pool/store.h"

namespace kaiseki::dist {

class SqliteStore : public Store {
 public:
  SqliteStore(const std::filesystem::path& file, SqliteOptions options);

  void begin() override;
  void commit(bool durable) override;
  void rollback() noexcept override;
  std::string setting(std::string_view name) override;
  void set_setting(std::string_view name, std::string_view value) override;

  ProjectId add_project(const std::string& name, double weight) override;
  void set_weight(ProjectId project, double weight) override;
  void remove_project(ProjectId project) override;
  std::vector<ProjectStatus> projects() override;
  void keep_blob(ProjectId project, const BlobHash& blob) override;
  void release_blob(ProjectId project, const BlobHash& blob) override;
  void each_blob(const std::function<void(const BlobHash&)>& use) override;
  bool names_blob(const BlobHash& blob) override;
  TaskId add_task(ProjectId project, const TaskSpec& spec) override;
  void set_task(TaskId task, TaskState state, int priority) override;
  std::vector<TaskStatus> tasks() override;

  TicketId add_tickets(TaskId task, std::span<const TicketSpec> tickets) override;
  std::optional<TicketRow> ticket(TicketId ticket) override;
  TicketInput input(TicketId ticket) override;
  std::vector<TicketRow> fresh(TaskId task, TicketId after, int limit) override;
  std::vector<TicketRow> touched() override;
  std::vector<LeaseRow> leases() override;
  int64_t count(TaskId task, TicketState state) override;
  void drop(TaskId task, TicketId through) override;
  void abandon(TaskId task, TicketId through) override;
  bool add_lease(const LeaseRow& lease) override;
  bool end_lease(TicketId ticket, int64_t epoch) override;
  bool set_failures(TicketId ticket, int64_t failures, double not_before) override;
  bool add_vote(const VoteRow& vote) override;
  std::vector<VoteRow> votes(TicketId ticket) override;
  std::vector<TicketId> drop_votes(const NodeId& node) override;
  bool add_failure(const FailureRow& failure) override;
  std::vector<FailureRow> failures() override;

  std::optional<int64_t> finish(const Finished& finished) override;
  std::vector<Finished> finished(TaskId task, TicketId after, int limit) override;
  std::vector<Finished> ended(TaskId task, int64_t after, int limit) override;
  void add_error(TaskId task, const TicketError& error) override;
  std::vector<TicketError> errors(TaskId task, int limit) override;
  std::optional<NodeRow> node(const NodeId& node) override;
  std::vector<NodeRow> nodes(double since, int limit) override;
  void put_node(const NodeRow& node) override;
  int64_t drop_nodes(double idle_before, double before) override;

 private:
  /// The statement of this text, prepared on first use. A text is a literal of its call.
  sqlite::Statement& sql(const char* text);
  void make_schema();

  sqlite::Database database_;
  std::string lost_;  // why nothing is known for sure any more
  std::unordered_map<const char*, sqlite::Statement> statements_;
};

}  // namespace kaiseki::dist
