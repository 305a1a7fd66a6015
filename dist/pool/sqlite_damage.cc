// SPDX-License-Identifier: MIT
// SqliteStore: rows with a wrong checksum. SQLite's own check does not see a flipped byte of a
// value.
#include "dist/pool/sqlite_damage.h"

#include "base/error.h"
#include "dist/pool/sqlite_store.h"

namespace kaiseki::dist {

Message damage_of_result(TicketId ticket) {
  return message("store", "the stored result of ticket ", ticket,
                 " is damaged; the start of the pool opens the ticket again");
}

Message damage_of_input(TicketId ticket) {
  return message("store", "the stored input of ticket ", ticket,
                 " is damaged; if the ticket is open, the start of the pool makes it dead");
}

void SqliteStore::repair(const SqliteOptions& options) {
  std::vector<std::pair<int64_t, TicketId>> results;
  auto& wrong = sql("SELECT sequence, ticket FROM result WHERE sum <> "
                    "checksum(task, ticket, dead, checked, node, result, blob_hash)")
                    .with();
  while (wrong.row()) results.emplace_back(wrong.integer(0), wrong.integer(1));
  if (options.is_whole) {
    auto& large =
        sql("SELECT sequence, ticket, blob_hash FROM result WHERE blob_hash <> ''").with();
    while (large.row())
      if (!options.is_whole(large.text(2)))
        results.emplace_back(large.integer(0), large.integer(1));
  }
  std::vector<TicketId> inputs;
  auto& damaged = sql("SELECT ticket FROM ticket_input WHERE sum <> checksum(input, "
                      "(SELECT group_concat(hash, '') FROM (SELECT hash FROM ticket_blob "
                      "WHERE ticket_blob.ticket = ticket_input.ticket ORDER BY place)))")
                      .with();
  while (damaged.row()) inputs.push_back(damaged.integer(0));
  if (results.empty() && inputs.empty()) return;
  try {
    begin();
    for (const auto& [sequence, id] : results) open_again(sequence, id);
    for (TicketId id : inputs) give_up(id);
    commit(true);
  } catch (const DiskFull&) {
    rollback();  // to read such a row throws
  }
  if (!options.on_lost) return;
  for (const auto& [sequence, id] : results) options.on_lost(damage_of_result(id));
  for (TicketId id : inputs) options.on_lost(damage_of_input(id));
}

void SqliteStore::open_again(int64_t sequence, TicketId ticket) {
  sql("DELETE FROM result WHERE sequence = ?").with(sequence).run();
  sql("UPDATE ticket SET state = 0, failures = 0 WHERE id = ?").with(ticket).run();
}

void SqliteStore::give_up(TicketId id) {
  const auto row = ticket(id);
  if (!row || !finish({.task = row->task, .ticket = id, .dead = true})) return;
  add_error(row->task, {.ticket = id, .text = damage_of_input(id)});
}

}  // namespace kaiseki::dist
