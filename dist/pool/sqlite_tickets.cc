// SPDX-License-Identifier: MIT
// SqliteStore: tickets, their leases and votes. Each step is one conditional UPDATE. Its number of
// rows is whether the step happened, so no row is read before it is written.
#include "base/error.h"
#include "dist/pool/sqlite_damage.h"
#include "dist/pool/sqlite_store.h"

namespace kaiseki::dist {
namespace {

TicketRow row_of(const sqlite::Statement& query) {
  TicketRow row;
  row.id = query.integer(0), row.task = query.integer(1);
  row.state = static_cast<TicketState>(query.integer(2));
  row.epoch = query.integer(3), row.failures = query.integer(4), row.not_before = query.real(5);
  row.max_result_bytes = static_cast<uint64_t>(query.integer(6)), row.work = query.real(7);
  return row;
}

std::vector<TicketRow> rows_of(sqlite::Statement& query) {
  std::vector<TicketRow> rows;
  while (query.row()) rows.push_back(row_of(query));
  return rows;
}

}  // namespace

TicketId SqliteStore::add_tickets(TaskId task, std::span<const TicketSpec> tickets) {
  expect_room();
  TicketId first = 0;
  for (const TicketSpec& ticket : tickets) {
    sql("INSERT INTO ticket (task, state, epoch, failures, not_before, max_result_bytes, work) "
        "VALUES (?, 0, 0, 0, 0, ?, ?)")
        .with(task, static_cast<int64_t>(ticket.max_result_bytes), ticket.work)
        .run();
    const TicketId id = database_.last_id();
    if (first == 0) first = id;
    std::string hashes;
    for (const BlobHash& blob : ticket.blobs) hashes += blob;
    sql("INSERT INTO ticket_input (ticket, input, sum) VALUES (?1, ?2, checksum(?2, ?3))")
        .with(id, ticket.input, hashes)
        .run();
    int place = 0;
    for (const BlobHash& blob : ticket.blobs)
      sql("INSERT INTO ticket_blob (ticket, place, hash) VALUES (?, ?, ?)")
          .with(id, place++, blob)
          .run();
  }
  return first;
}

std::optional<TicketRow> SqliteStore::ticket(TicketId ticket) {
  auto& query = sql("SELECT id, task, state, epoch, failures, not_before, max_result_bytes, work "
                    "FROM ticket WHERE id = ?")
                    .with(ticket);
  if (!query.row()) return std::nullopt;
  TicketRow row = row_of(query);
  query.reset();
  return row;
}

TicketInput SqliteStore::input(TicketId ticket) {
  auto& query = sql("SELECT input, sum = checksum(input, (SELECT group_concat(hash, '') FROM "
                    "(SELECT hash FROM ticket_blob WHERE ticket = ?1 ORDER BY place))) "
                    "FROM ticket_input WHERE ticket = ?1")
                    .with(ticket);
  if (!query.row())
    throw Error(message("store", "expected the input of ticket ", ticket,
                        ", got none; the file was changed from outside"));
  TicketInput input{query.blob(0), {}};
  const bool is_whole = query.integer(1) != 0;
  query.reset();
  if (!is_whole) throw Error(damage_of_input(ticket));
  auto& blobs = sql("SELECT hash FROM ticket_blob WHERE ticket = ? ORDER BY place").with(ticket);
  while (blobs.row()) input.blobs.push_back(blobs.text(0));
  return input;
}

std::vector<TicketRow> SqliteStore::fresh(TaskId task, TicketId after, int limit) {
  return rows_of(sql("SELECT id, task, state, epoch, failures, not_before, max_result_bytes, work "
                     "FROM ticket WHERE task = ? AND state = 0 AND id > ? AND epoch = 0 "
                     "ORDER BY id LIMIT ?")
                     .with(task, after, limit));
}

std::vector<TicketRow> SqliteStore::touched() {
  // One query for each task, since the index begins with the task.
  return rows_of(sql("SELECT ticket.id, ticket.task, ticket.state, epoch, failures, not_before, "
                     "max_result_bytes, work FROM task JOIN ticket ON ticket.task = task.id "
                     "AND ticket.state = 0 WHERE epoch > 0 ORDER BY ticket.id")
                     .with());
}

std::vector<LeaseRow> SqliteStore::leases() {
  std::vector<LeaseRow> found;
  auto& query =
      sql("SELECT ticket, epoch, node, issued, deadline, round FROM lease ORDER BY ticket, epoch")
          .with();
  while (query.row())
    found.push_back({query.integer(0), query.integer(1), query.text(2), query.real(3),
                     query.real(4), query.integer(5)});
  return found;
}

int64_t SqliteStore::count(TaskId task, TicketState state) {
  auto& query = sql("SELECT COUNT(*) FROM ticket WHERE task = ? AND state = ?")
                    .with(task, static_cast<int>(state));
  query.row();
  const int64_t count = query.integer(0);
  query.reset();
  return count;
}

void SqliteStore::drop(TaskId task, TicketId through) {
  for (const char* text :
       {"DELETE FROM ticket_input WHERE ticket IN "
        "(SELECT id FROM ticket WHERE task = ? AND id <= ? AND state <> 0)",
        "DELETE FROM ticket_blob WHERE ticket IN "
        "(SELECT id FROM ticket WHERE task = ? AND id <= ? AND state <> 0)",
        "DELETE FROM error WHERE task = ? AND ticket <= ? AND EXISTS (SELECT 1 FROM result "
        "WHERE result.task = error.task AND result.ticket = error.ticket)",
        "DELETE FROM result WHERE task = ? AND ticket <= ?",
        "DELETE FROM ticket WHERE task = ? AND id <= ? AND state <> 0"})
    sql(text).with(task, through).run();
}

void SqliteStore::abandon(TaskId task, TicketId through) {
  for (const char* text :
       {"DELETE FROM lease WHERE ticket IN "
        "(SELECT id FROM ticket WHERE task = ? AND state = 0 AND id <= ?)",
        "DELETE FROM vote WHERE ticket IN "
        "(SELECT id FROM ticket WHERE task = ? AND state = 0 AND id <= ?)",
        "DELETE FROM failure WHERE ticket IN "
        "(SELECT id FROM ticket WHERE task = ? AND state = 0 AND id <= ?)",
        "DELETE FROM ticket_input WHERE ticket IN "
        "(SELECT id FROM ticket WHERE task = ? AND state = 0 AND id <= ?)",
        "DELETE FROM ticket_blob WHERE ticket IN "
        "(SELECT id FROM ticket WHERE task = ? AND state = 0 AND id <= ?)",
        "DELETE FROM error WHERE task = ? AND ticket <= ? AND EXISTS "
        "(SELECT 1 FROM ticket WHERE ticket.id = error.ticket AND ticket.state = 0)",
        "DELETE FROM ticket WHERE task = ? AND state = 0 AND id <= ?"})
    sql(text).with(task, through).run();
}

bool SqliteStore::add_lease(const LeaseRow& lease) {
  expect_room();
  if (sql("UPDATE ticket SET epoch = ? WHERE id = ? AND state = 0 AND epoch = ?")
          .with(lease.epoch, lease.ticket, lease.epoch - 1)
          .run() != 1)
    return false;
  sql("INSERT INTO lease (ticket, epoch, node, issued, deadline, round) VALUES (?, ?, ?, ?, ?, ?)")
      .with(lease.ticket, lease.epoch, lease.node, lease.issued, lease.deadline, lease.round)
      .run();
  return true;
}

bool SqliteStore::end_lease(TicketId ticket, int64_t epoch) {
  return sql("DELETE FROM lease WHERE ticket = ? AND epoch = ?").with(ticket, epoch).run() == 1;
}

bool SqliteStore::set_failures(TicketId ticket, int64_t failures, double not_before) {
  return sql("UPDATE ticket SET failures = ?, not_before = ? WHERE id = ? AND state = 0")
             .with(failures, not_before, ticket)
             .run() == 1;
}

bool SqliteStore::add_vote(const VoteRow& vote) {
  expect_room();
  return sql("INSERT INTO vote (ticket, node, hash, source) SELECT id, ?, ?, ? FROM ticket "
             "WHERE id = ? AND state = 0 AND NOT EXISTS "
             "(SELECT 1 FROM vote WHERE vote.ticket = ? AND vote.node = ?)")
             .with(vote.node, vote.hash, vote.source, vote.ticket, vote.ticket, vote.node)
             .run() == 1;
}

std::vector<VoteRow> SqliteStore::votes(TicketId ticket) {
  std::vector<VoteRow> found;
  auto& query = sql("SELECT ticket, node, hash, source FROM vote WHERE ticket = ? ORDER BY node")
                    .with(ticket);
  while (query.row())
    found.push_back({query.integer(0), query.text(1), query.text(2), query.text(3)});
  return found;
}

std::vector<TicketId> SqliteStore::drop_votes(const NodeId& node) {
  std::vector<TicketId> found;
  auto& query = sql("SELECT ticket FROM vote WHERE node = ? ORDER BY ticket").with(node);
  while (query.row()) found.push_back(query.integer(0));
  sql("DELETE FROM vote WHERE node = ?").with(node).run();
  return found;
}

bool SqliteStore::add_failure(const FailureRow& failure) {
  return sql("INSERT INTO failure (ticket, node, source) SELECT id, ?, ? FROM ticket "
             "WHERE id = ? AND state = 0 AND NOT EXISTS "
             "(SELECT 1 FROM failure WHERE failure.ticket = ? AND failure.node = ?)")
             .with(failure.node, failure.source, failure.ticket, failure.ticket, failure.node)
             .run() == 1;
}

std::vector<FailureRow> SqliteStore::failures() {
  std::vector<FailureRow> found;
  auto& query = sql("SELECT ticket, node, source FROM failure ORDER BY ticket, node").with();
  while (query.row()) found.push_back({query.integer(0), query.text(1), query.text(2)});
  return found;
}

}  // namespace kaiseki::dist
