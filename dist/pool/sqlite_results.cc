// SPDX-License-Identifier: MIT
// SqliteStore: ended tickets, errors and nodes.
#include "dist/pool/sqlite_damage.h"
#include "dist/pool/sqlite_store.h"

namespace kaiseki::dist {
namespace {

constexpr int64_t kMostNewcomers = 100'000;  // 75 MB at most

NodeRow node_of(const sqlite::Statement& query) {
  return {query.text(0),    query.text(1), query.text(2), query.integer(3), query.integer(4),
          query.integer(5), query.real(6), query.real(7), query.text(8),    query.real(9)};
}

}  // namespace

std::vector<Finished> SqliteStore::results_of(sqlite::Statement& query) {
  std::vector<Finished> found;
  while (query.row()) {
    if (query.integer(8) == 0) {
      const TicketId ticket = query.integer(2);
      query.reset();
      throw Error(damage_of_result(ticket));
    }
    found.push_back({query.integer(0), query.integer(1), query.integer(2), query.integer(3) != 0,
                     query.integer(4) != 0, query.text(5), query.blob(6), query.text(7)});
  }
  return found;
}

std::optional<int64_t> SqliteStore::finish(const Finished& finished) {
  expect_room();
  const auto state = finished.dead ? TicketState::dead : TicketState::done;
  if (sql("UPDATE ticket SET state = ? WHERE id = ? AND state = 0")
          .with(static_cast<int>(state), finished.ticket)
          .run() != 1)
    return std::nullopt;
  sql("INSERT INTO result (task, ticket, dead, checked, node, result, blob_hash, sum) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7))")
      .with(finished.task, finished.ticket, finished.dead, finished.checked, finished.node,
            finished.result, finished.blob)
      .run();
  const int64_t sequence = database_.last_id();
  sql("DELETE FROM lease WHERE ticket = ?").with(finished.ticket).run();
  sql("DELETE FROM vote WHERE ticket = ?").with(finished.ticket).run();
  sql("DELETE FROM failure WHERE ticket = ?").with(finished.ticket).run();
  return sequence;
}

std::vector<Finished> SqliteStore::finished(TaskId task, TicketId after, int limit) {
  return results_of(sql("SELECT sequence, task, ticket, dead, checked, node, result, blob_hash, "
                        "sum = checksum(task, ticket, dead, checked, node, result, blob_hash) "
                        "FROM result WHERE task = ? AND ticket > ? ORDER BY ticket LIMIT ?")
                        .with(task, after, limit));
}

std::vector<Finished> SqliteStore::ended(TaskId task, int64_t after, int limit) {
  return results_of(sql("SELECT sequence, task, ticket, dead, checked, node, result, blob_hash, "
                        "sum = checksum(task, ticket, dead, checked, node, result, blob_hash) "
                        "FROM result WHERE task = ? AND sequence > ? ORDER BY sequence LIMIT ?")
                        .with(task, after, limit));
}

void SqliteStore::add_error(TaskId task, const TicketError& error) {
  sql("INSERT INTO error (task, ticket, node, time, text) VALUES (?, ?, ?, ?, ?)")
      .with(task, error.ticket, error.node, error.time, error.text)
      .run();
}

std::vector<TicketError> SqliteStore::errors(TaskId task, int limit) {
  std::vector<TicketError> found;
  auto& query = sql("SELECT ticket, node, time, text FROM error WHERE task = ? "
                    "ORDER BY id DESC LIMIT ?")
                    .with(task, limit);
  while (query.row())
    found.push_back({query.integer(0), query.text(1), query.real(2), query.text(3)});
  return found;
}

void SqliteStore::each_blob(const std::function<void(const BlobHash&)>& use) {
  for (const char* text :
       {"SELECT hash FROM ticket_blob", "SELECT blob_hash FROM result WHERE blob_hash <> ''",
        "SELECT module FROM task WHERE module <> ''", "SELECT hash FROM project_blob"}) {
    auto& query = sql(text).with();
    while (query.row()) use(query.text(0));
  }
}

bool SqliteStore::names_blob(const BlobHash& blob) {
  auto& query = sql("SELECT 1 FROM ticket_blob WHERE hash = ? UNION ALL "
                    "SELECT 1 FROM result WHERE blob_hash = ? AND blob_hash <> '' UNION ALL "
                    "SELECT 1 FROM task WHERE module = ? UNION ALL "
                    "SELECT 1 FROM project_blob WHERE hash = ? LIMIT 1")
                    .with(blob, blob, blob, blob);
  const bool named = query.row();
  query.reset();
  return named;
}

std::optional<NodeRow> SqliteStore::node(const NodeId& node) {
  auto& query =
      sql("SELECT id, name, device, accepted, failed, consecutive_valid, failed_in_a_row, "
          "last_seen, expelled, outvoted FROM known_node WHERE id = ?")
          .with(node);
  if (!query.row()) return std::nullopt;
  NodeRow row = node_of(query);
  query.reset();
  return row;
}

std::vector<NodeRow> SqliteStore::nodes(double since, int limit) {
  std::vector<NodeRow> found;
  auto& query =
      sql("SELECT id, name, device, accepted, failed, consecutive_valid, failed_in_a_row, "
          "last_seen, expelled, outvoted FROM known_node WHERE last_seen > ? ORDER BY last_seen "
          "DESC, id "
          "LIMIT ?")
          .with(since, limit);
  while (query.row()) found.push_back(node_of(query));
  return found;
}

void SqliteStore::put_node(const NodeRow& node) {
  const bool is_newcomer = node.accepted == 0 && node.expelled.empty();
  const auto write = [&](const char* text) {
    return sql(text)
        .with(node.name, node.device, node.accepted, node.failed, node.consecutive_valid,
              node.recent_failures, node.last_seen, node.expelled, node.outvoted, node.id)
        .run();
  };
  if (is_newcomer) {
    if (write(
            "UPDATE newcomer SET name = ?, device = ?, accepted = ?, failed = ?, "
            "consecutive_valid = ?, failed_in_a_row = ?, last_seen = ?, expelled = ?, outvoted = ? "
            "WHERE id = ?") == 1)
      return;
    write(
        "INSERT INTO newcomer (name, device, accepted, failed, consecutive_valid, "
        "failed_in_a_row, last_seen, expelled, outvoted, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?)");
    sql("DELETE FROM newcomer WHERE number <= ?").with(database_.last_id() - kMostNewcomers).run();
    return;
  }
  if (write("UPDATE node SET name = ?, device = ?, accepted = ?, failed = ?, "
            "consecutive_valid = ?, failed_in_a_row = ?, last_seen = ?, expelled = ?, outvoted = ? "
            "WHERE id = ?") == 1)
    return;
  sql("DELETE FROM newcomer WHERE id = ?").with(node.id).run();
  write(
      "INSERT INTO node (name, device, accepted, failed, consecutive_valid, failed_in_a_row, "
      "last_seen, expelled, outvoted, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
}

int64_t SqliteStore::drop_nodes(double idle_before, double before) {
  return sql("DELETE FROM node WHERE last_seen < ? "
             "AND id NOT IN (SELECT node FROM lease) AND id NOT IN (SELECT node FROM vote)")
             .with(before)
             .run() +
         sql("DELETE FROM newcomer WHERE last_seen < ? "
             "AND id NOT IN (SELECT node FROM lease) AND id NOT IN (SELECT node FROM vote)")
             .with(idle_before)
             .run();
}

}  // namespace kaiseki::dist
