// SPDX-License-Identifier: MIT
// What is the SQLite store's own: its file, and files of earlier schemas.
#include "dist/pool/sqlite.h"

#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("sqlite: one process at a time, and a newer schema is left alone") {
  Folder folder;
  const fs::path file = folder / "pool.db";
  {
    auto store = open_sqlite_store(file);
    CHECK(has(error_of([&] { open_sqlite_store(file, {.busy_milliseconds = 0}); }),
              "another process has this pool open"));
  }
  sqlite::Database(file.string()).exec("PRAGMA user_version = 99");
  CHECK(has(error_of([&] { open_sqlite_store(file); }), "schema 99"));
  CHECK(has(error_of([&] { open_sqlite_store(folder / "no/such/folder/pool.db"); }), "pool.db"));
}

TEST_CASE("sqlite: pools of earlier schemas are brought up to date") {
  const std::string a(64, 'a'), b(64, 'b'), c(64, 'c');
  for (const int version : {1, 2}) {
    INFO("schema ", version);
    Folder folder;
    const fs::path file = folder / "pool.db";
    {
      auto store = open_sqlite_store(file);
      const TaskId task =
          store->add_task(store->add_project("p", 1), {.name = "t", .function = "f"});
      const TicketId first = store->add_tickets(task, std::vector<TicketSpec>(3));
      store->finish({.task = task, .ticket = first, .blob = c});
    }
    const std::string blobs = "UPDATE ticket_input SET blobs = '" + a + b + a +
                              "' WHERE ticket = 2; UPDATE ticket_input SET blobs = '" + b +
                              "' WHERE ticket = 3;";
    sqlite::Database before(file.string());
    before.exec(
        "ALTER TABLE task RENAME COLUMN native_function TO function; DROP INDEX result_by_blob;"
        "ALTER TABLE result RENAME COLUMN blob_hash TO blob; DROP INDEX project_blob_by_hash;"
        "DROP INDEX node_by_last_seen; DROP TABLE failure; DROP TABLE ticket_blob;"
        "ALTER TABLE ticket_input ADD COLUMN blobs TEXT NOT NULL DEFAULT ''; "
        "PRAGMA user_version = 2");
    before.exec(blobs.c_str());
    if (version == 1) before.exec("ALTER TABLE vote DROP COLUMN source; PRAGMA user_version = 1");
    before = sqlite::Database(":memory:");
    auto store = open_sqlite_store(file);
    REQUIRE(store->tasks().size() == 1);
    CHECK(store->tasks()[0].spec.function == "f");
    CHECK(store->finished(store->tasks()[0].id, 0, 9)[0].blob == c);
    CHECK(store->input(1).blobs.empty());
    CHECK(store->input(2).blobs == std::vector{a, b, a});
    CHECK(store->input(3).blobs == std::vector{b});
    for (const std::string& hash : {a, b, c}) CHECK(store->names_blob(hash));
    CHECK(store->add_vote({2, "a", "hash", "192.0.2.1"}));
    CHECK(store->votes(2)[0].source == "192.0.2.1");
    CHECK(store->add_failure({2, "a", "192.0.2.1"}));
    store->put_node({.id = "n", .last_seen = 5});
    CHECK(store->nodes(1, 9).size() == 1);
  }
}
