// SPDX-License-Identifier: MIT
// SqliteStore: the store in SQLite. Its methods are spread over sqlite_store.cc, sqlite_tickets.cc,
// sqlite_results.cc and sqlite_damage.cc.
#pragma once

#include <unordered_map>

#include "dist/pool/acknowledged.h"
#include "dist/pool/sqlite.h"
#include "dist/pool/store.h"

namespace kaiseki::dist {

class SqliteStore : public Store {
 public:
  SqliteStore(const std::filesystem::path& file, const SqliteOptions& options);

  void begin() override;
  void commit(bool durable) override;
  void rollback() noexcept override;
  std::string setting(std::string_view name) override;
  void set_setting(std::string_view name, std::string_view value) override;

  ProjectId add_project(const std::string& name, double weight,
                        std::optional<double> lapse) override;
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
  std::vector<VoteRow> votes() override;
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
  /// The statement of this text, prepared on first use. `text` must be a string literal.
  sqlite::Statement& sql(const char* text);
  /// Throws Error if the file has another schema.
  void make_schema(const std::filesystem::path& file);
  void expect_whole();
  /// Throws DiskFull if a row would use the part of the disk that is left free.
  void expect_room() const;
  AcknowledgedIds::Ids last_ids();
  /// Opens tickets whose results are damaged again. Tickets whose inputs are damaged are dead.
  /// Reports each. On a full disk it only reports.
  void repair(const SqliteOptions& options);
  void open_again(int64_t sequence, TicketId ticket);
  void give_up(TicketId ticket);
  std::vector<Finished> results_of(sqlite::Statement& query);
  /// Reports lost rows, and never uses their ids again.
  void find_lost(const std::function<void(const std::string&)>& report);

  const std::filesystem::path folder_;  // empty: the store is in memory
  const uint64_t free_floor_;
  sqlite::Database database_;
  std::optional<AcknowledgedIds> acknowledged_;  // not of a store in memory
  Message lost_;                                 // the reason of StoreLost; empty: the store works
  std::unordered_map<const char*, sqlite::Statement> statements_;
};

}  // namespace kaiseki::dist
