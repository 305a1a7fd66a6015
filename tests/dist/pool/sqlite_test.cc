// SPDX-License-Identifier: MIT
// The SQLite store's file.
#include "dist/pool/sqlite.h"

#include <fstream>

#include "base/file.h"
#include "tests/dist/pool/support.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

void write_over(const fs::path& file, uint64_t at, const std::string& content) {
  std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(at)) << content;
}

/// A project, a task, tickets, and results of the first half.
void fill(Store& store, int tickets) {
  store.begin();
  const TaskId task = store.add_task(store.add_project("p", 1), {.name = "t", .function = "f"});
  const std::vector<TicketSpec> specs(static_cast<size_t>(tickets), {.input = bytes("input")});
  const TicketId first = store.add_tickets(task, specs);
  for (int i = 0; i < tickets / 2; ++i)
    store.finish({.task = task, .ticket = first + i, .result = bytes("result")});
  store.commit(true);
}

/// The files of a process that was killed.
fs::path killed_copy(const Folder& from, const fs::path& to) {
  fs::remove_all(to);
  fs::create_directories(to);
  for (const char* name : {"pool.db", "pool.db-wal", "pool.db-acknowledged"})
    fs::copy_file(from / name, to / name);
  return to / "pool.db";
}

/// SQLite's description of how it runs a statement.
std::string plan_of(sqlite::Database& database, const std::string& statement) {
  sqlite::Statement query(database, ("EXPLAIN QUERY PLAN " + statement).c_str());
  query.with();
  std::string plan;
  while (query.row()) plan += query.text(3) + "\n";
  return plan;
}

}  // namespace

TEST_CASE("sqlite: one process at a time, and another schema is refused") {
  Folder folder;
  const fs::path file = folder / "pool.db";
  {
    auto store = open_sqlite_store(file);
    CHECK(has(error_of([&] { open_sqlite_store(file, {.busy_milliseconds = 0}); }),
              "another process has this pool open"));
  }
  for (const std::string version : {"1", "9", "-1"}) {
    sqlite::Database(file.string()).exec(("PRAGMA user_version = " + version).c_str());
    CHECK(error_of([&] { open_sqlite_store(file); }) ==
          "[store] expected " + file.string() + " of schema 8, got schema " + version +
              "; use the version of kaiseki that wrote it, or another folder");
  }
  CHECK(has(error_of([&] { open_sqlite_store(folder / "no/such/folder/pool.db"); }), "pool.db"));
}

TEST_CASE("sqlite: a node's votes are found by an index") {
  Folder folder;
  const fs::path file = folder / "pool.db";
  open_sqlite_store(file);
  sqlite::Database database(file.string());
  CHECK(plan_of(database, "DELETE FROM vote WHERE node = 'a'").find("vote_by_node") !=
        std::string::npos);
}

TEST_CASE("sqlite: whichever page is damaged, the file is refused") {
  constexpr uint64_t kPage = 4096;
  Folder folder;
  const fs::path file = folder / "pool.db";
  fill(*open_sqlite_store(file), 1000);
  const ByteVector whole = read_file(file);
  REQUIRE(whole.size() > 20 * kPage);
  for (const char content : {'\0', '\x0d', 'x'})
    for (uint64_t at = kPage; at < whole.size(); at += kPage) {
      CAPTURE(at / kPage);
      write_file_atomic(file, whole);
      write_over(file, at, std::string(kPage, content));
      CHECK(has(error_of([&] { open_sqlite_store(file); }), "restore the file from a copy"));
    }
  write_file_atomic(file, whole);
  CHECK(open_sqlite_store(file)->tasks().size() == 1);
}

TEST_CASE("sqlite: an index without an entry is refused, as its ticket would never be found") {
  Folder folder;
  const fs::path file = folder / "pool.db";
  fill(*open_sqlite_store(file), 10);
  sqlite::Database(file.string())
      .exec(
          "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "
          "'CREATE INDEX ticket_by_state ON ticket (task, state, id) WHERE id <> 7' "
          "WHERE name = 'ticket_by_state'; PRAGMA writable_schema = RESET; "
          "REINDEX ticket_by_state; PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "
          "'CREATE INDEX ticket_by_state ON ticket (task, state, id)' "
          "WHERE name = 'ticket_by_state'");
  CHECK(has(error_of([&] { open_sqlite_store(file); }), "ticket_by_state"));
}

TEST_CASE("sqlite: acknowledged results that a damaged log lost are reported") {
  Folder folder;
  const auto store = open_sqlite_store(folder / "pool.db");
  fill(*store, 4);
  const uint64_t earlier = fs::file_size(folder / "pool.db-wal");
  fill(*store, 20);
  std::vector<std::string> lost;
  const auto open = [&](const fs::path& file) {
    lost.clear();
    return open_sqlite_store(file,
                             {.on_lost = [&](const std::string& what) { lost.push_back(what); }});
  };
  const auto reports = [&](std::string_view part) {
    return std::ranges::any_of(lost, [&](const std::string& line) { return has(line, part); });
  };
  open(killed_copy(folder, folder / "copy"));
  CHECK(lost.empty());

  const fs::path file = killed_copy(folder, folder / "copy");
  write_over(folder / "copy/pool.db-wal", earlier + 100, "damage");
  {
    const auto again = open(file);
    CHECK(lost.size() == 4);
    CHECK(reports("expected result 12, which was acknowledged, got 2 as the last: 10 are lost"));
    CHECK(reports("expected ticket 24, which was acknowledged, got 4 as the last: 20 are lost"));
    CHECK(again->add_tickets(1, std::vector<TicketSpec>(1)) == 25);  // no id is used twice
    CHECK(again->finish({.task = 1, .ticket = 25}) == 13);
  }
  open(file);
  CHECK(lost.empty());
  write_over(file.string() + "-acknowledged", 10, "x");
  open(file);
  CHECK(reports("which has the last ids, is damaged"));
}

TEST_CASE("sqlite: tickets whose results in blobs are damaged or lost are opened again") {
  Folder folder;
  const fs::path file = folder / "pool.db";
  BlobHash whole, damaged, lost;
  TaskId task = 0;
  {
    BlobStore blobs(folder / "blobs");
    whole = blobs.put(bytes("whole")), damaged = blobs.put(bytes("damaged"));
    lost = blobs.put(bytes("lost"));
    const auto store = open_sqlite_store(file);
    task = store->add_task(store->add_project("p", 1), {.name = "t", .function = "f"});
    store->add_tickets(task, std::vector<TicketSpec>(3));
    store->finish({.task = task, .ticket = 1, .node = "n", .blob = whole});
    store->finish({.task = task, .ticket = 2, .node = "n", .blob = damaged});
    store->finish({.task = task, .ticket = 3, .node = "n", .blob = lost});
  }
  write_over(folder / "blobs" / damaged, 0, "x");
  fs::remove(folder / "blobs" / lost);
  BlobStore blobs(folder / "blobs");
  std::vector<std::string> said;
  const auto store = open_sqlite_store(
      file, {.on_lost = [&](const std::string& what) { said.push_back(what); },
             .is_whole = [&](const BlobHash& hash) { return blobs.is_whole(hash); }});
  REQUIRE(said.size() == 2);
  CHECK(has(said[0], "result of ticket 2"));
  CHECK(has(said[1], "result of ticket 3"));
  CHECK(store->ticket(1)->state == TicketState::done);
  CHECK(store->ticket(2)->state == TicketState::open);
  CHECK(store->ticket(3)->state == TicketState::open);
  CHECK(store->finished(task, 0, 9).size() == 1);
}

TEST_CASE("sqlite: a flipped byte of a stored result or input is never served") {
  Folder folder;
  const fs::path file = folder / "pool.db";
  TaskId task = 0;
  {
    const auto store = open_sqlite_store(file);
    task = store->add_task(store->add_project("p", 1), {.name = "t", .function = "f"});
    const std::vector<TicketSpec> specs = {{.input = bytes("input A of a ticket")},
                                           {.input = bytes("input B of a ticket")},
                                           {.input = bytes("input C of a ticket")}};
    store->add_tickets(task, specs);
    store->finish({.task = task, .ticket = 1, .node = "n", .result = bytes("result A")});
    store->finish({.task = task, .ticket = 2, .node = "n", .result = bytes("result B")});
  }
  const ByteVector whole = read_file(file);
  const auto damage = [&](std::string_view what) {
    write_file_atomic(file, whole);
    const size_t at = as_text(whole).find(what);
    REQUIRE(at != std::string::npos);
    write_over(file, at + what.size() - 1, "x");
  };
  std::vector<std::string> said;
  const auto open = [&] {
    said.clear();
    return open_sqlite_store(file,
                             {.on_lost = [&](const std::string& what) { said.push_back(what); }});
  };

  SUBCASE("a result") {
    damage("result A");
    const auto store = open();
    REQUIRE(said.size() == 1);
    CHECK(has(said[0], "result of ticket 1"));
    CHECK(store->ticket(1)->state == TicketState::open);
    REQUIRE(store->finished(task, 0, 9).size() == 1);
    CHECK(store->finished(task, 0, 9)[0].ticket == 2);
    CHECK(store->finish({.task = task, .ticket = 1, .result = bytes("again")}) == 3);
  }
  SUBCASE("the input of an open ticket") {
    damage("input C of a ticket");
    const auto store = open();
    REQUIRE(said.size() == 1);
    CHECK(has(said[0], "input of ticket 3"));
    CHECK(store->ticket(3)->state == TicketState::dead);
    CHECK(store->ended(task, 2, 9)[0].dead);
    REQUIRE(store->errors(task, 9).size() == 1);
    CHECK(has(store->errors(task, 9)[0].text, "damaged"));
  }
  SUBCASE("on a full disk, reading refuses them") {
    damage("input C of a ticket");
    const auto at = static_cast<uint64_t>(as_text(whole).find("result A"));
    write_over(file, at, "x");
    const auto store = open_sqlite_store(file, {.free_floor = uint64_t{1} << 62});
    CHECK(has(error_of([&] { store->input(3); }), "input of ticket 3"));
    CHECK(has(error_of([&] { store->finished(task, 0, 9); }), "result of ticket 1"));
    CHECK(has(error_of([&] { store->ended(task, 0, 9); }), "result of ticket 1"));
    CHECK(text(store->input(2).input) == "input B of a ticket");
    CHECK(text(store->finished(task, 1, 9)[0].result) == "result B");
  }
  SUBCASE("then the next start finds nothing") {
    damage("result B");
    open();
    open();
    CHECK(said.empty());
  }
}

TEST_CASE("sqlite: nodes without an accepted result are not in the file") {
  Folder folder;
  const fs::path file = folder / "pool.db";
  {
    const auto store = open_sqlite_store(file);
    fill(*store, 2);
    const auto before = fs::file_size(folder / "pool.db-wal");
    for (int i = 0; i < 1000; ++i)
      store->put_node({.id = std::to_string(i), .name = "spam", .last_seen = 10});
    CHECK(fs::file_size(folder / "pool.db-wal") == before);
    CHECK(store->node("7")->name == "spam");
    store->put_node({.id = "7", .name = "useful", .accepted = 1, .last_seen = 20});
    store->put_node({.id = "8", .name = "liar", .last_seen = 30, .expelled = "why"});
    CHECK(store->nodes(0, 2000).size() == 1000);
    CHECK(store->node("7")->name == "useful");
    CHECK(store->drop_nodes(15, 0) == 998);
  }
  const auto store = open_sqlite_store(file);
  const auto nodes = store->nodes(0, 9);
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].expelled == "why");
  CHECK(nodes[1].name == "useful");
}

TEST_CASE("sqlite: memory has the last 100,000 nodes without an accepted result") {
  const auto store = open_sqlite_store(":memory:");
  store->begin();
  for (int i = 0; i < 100'100; ++i) store->put_node({.id = std::to_string(i), .last_seen = 1});
  store->commit(false);
  CHECK(!store->node("99"));
  CHECK(store->node("100"));
  CHECK(store->node("100099"));
}

TEST_CASE("sqlite: if the disk has less than the floor, rows are deleted, but none added") {
  Folder folder;
  const fs::path file = folder / "pool.db";
  fill(*open_sqlite_store(file), 4);
  const auto store = open_sqlite_store(file, {.free_floor = uint64_t{1} << 62});
  const auto refuses = [&](auto call) {
    CHECK_THROWS_AS(call(), DiskFull);
    CHECK(has(error_of(call), "left over on the disk"));
  };
  refuses([&] { store->add_project("p", 1); });
  refuses([&] { store->add_task(1, {.name = "t", .function = "f"}); });
  refuses([&] { store->add_tickets(1, std::vector<TicketSpec>(1)); });
  refuses([&] { store->add_lease({.ticket = 3, .epoch = 1}); });
  refuses([&] { store->add_vote({.ticket = 3}); });
  refuses([&] { store->finish({.task = 1, .ticket = 3}); });
  CHECK(store->finished(1, 0, 9).size() == 2);
  store->drop(1, 4);
  CHECK(store->finished(1, 0, 9).empty());
}
