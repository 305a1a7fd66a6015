// SPDX-License-Identifier: MIT
// SqliteStore: the file, its schema, transactions, projects and tasks. Statements are plain SQL.
// Only the schema and the constructor use features of SQLite.
#include "dist/pool/sqlite_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace kaiseki::dist {
namespace {

constexpr int64_t kSchema = 8;  // 1 to 7 were never published

// AUTOINCREMENT: the id of a deleted row is never used again.
const char* const kTables = R"sql(
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE project (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, weight REAL NOT NULL);
CREATE TABLE project_lapse (project INTEGER PRIMARY KEY, seconds REAL NOT NULL);
CREATE TABLE project_blob (project INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (project, hash));
CREATE INDEX project_blob_by_hash ON project_blob (hash);
CREATE TABLE task (
  id INTEGER PRIMARY KEY AUTOINCREMENT, project INTEGER NOT NULL, name TEXT NOT NULL,
  native_function TEXT NOT NULL, module TEXT NOT NULL, priority INTEGER NOT NULL,
  verification INTEGER NOT NULL, quorum INTEGER NOT NULL, max_attempts INTEGER NOT NULL,
  public_data INTEGER NOT NULL, state INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL);
CREATE TABLE ticket (
  id INTEGER PRIMARY KEY AUTOINCREMENT, task INTEGER NOT NULL, state INTEGER NOT NULL,
  epoch INTEGER NOT NULL, failures INTEGER NOT NULL, not_before REAL NOT NULL,
  max_result_bytes INTEGER NOT NULL, work REAL NOT NULL);
CREATE INDEX ticket_by_state ON ticket (task, state, id);
CREATE TABLE ticket_input (
  ticket INTEGER PRIMARY KEY, input BLOB NOT NULL, sum TEXT NOT NULL);
CREATE TABLE ticket_blob (
  ticket INTEGER NOT NULL, place INTEGER NOT NULL, hash TEXT NOT NULL,
  PRIMARY KEY (ticket, place)) WITHOUT ROWID;
CREATE INDEX ticket_blob_by_hash ON ticket_blob (hash);
CREATE TABLE lease (
  ticket INTEGER NOT NULL, epoch INTEGER NOT NULL, node TEXT NOT NULL, issued REAL NOT NULL,
  deadline REAL NOT NULL, round INTEGER NOT NULL, PRIMARY KEY (ticket, epoch)) WITHOUT ROWID;
CREATE TABLE vote (
  ticket INTEGER NOT NULL, node TEXT NOT NULL, hash TEXT NOT NULL, source TEXT NOT NULL,
  PRIMARY KEY (ticket, node)) WITHOUT ROWID;
CREATE INDEX vote_by_node ON vote (node);
CREATE TABLE failure (
  ticket INTEGER NOT NULL, node TEXT NOT NULL, source TEXT NOT NULL,
  PRIMARY KEY (ticket, node)) WITHOUT ROWID;
CREATE TABLE result (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT, task INTEGER NOT NULL, ticket INTEGER NOT NULL,
  dead INTEGER NOT NULL, checked INTEGER NOT NULL, node TEXT NOT NULL, result BLOB NOT NULL,
  blob_hash TEXT NOT NULL, sum TEXT NOT NULL, UNIQUE (task, ticket));
CREATE INDEX result_by_sequence ON result (task, sequence);
CREATE INDEX result_by_blob ON result (blob_hash) WHERE blob_hash <> '';
CREATE TABLE error (
  id INTEGER PRIMARY KEY AUTOINCREMENT, task INTEGER NOT NULL, ticket INTEGER NOT NULL,
  node TEXT NOT NULL, time REAL NOT NULL, text TEXT NOT NULL);
CREATE INDEX error_by_task ON error (task, id);
CREATE TABLE node (
  id TEXT PRIMARY KEY, name TEXT NOT NULL, device TEXT NOT NULL, accepted INTEGER NOT NULL,
  failed INTEGER NOT NULL, consecutive_valid INTEGER NOT NULL, failed_in_a_row INTEGER NOT NULL,
  last_seen REAL NOT NULL, expelled TEXT NOT NULL, outvoted REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX node_by_last_seen ON node (last_seen);
)sql";

/// The newcomers, in memory: temp_store. `known_node` has all nodes.
const char* const kNewcomers = R"sql(
CREATE TEMP TABLE newcomer (
  number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, name TEXT NOT NULL,
  device TEXT NOT NULL, accepted INTEGER NOT NULL, failed INTEGER NOT NULL,
  consecutive_valid INTEGER NOT NULL, failed_in_a_row REAL NOT NULL, last_seen REAL NOT NULL,
  expelled TEXT NOT NULL, outvoted REAL NOT NULL);
CREATE INDEX temp.newcomer_by_last_seen ON newcomer (last_seen);
CREATE TEMP VIEW known_node AS
  SELECT id, name, device, accepted, failed, consecutive_valid, failed_in_a_row, last_seen,
    expelled, outvoted
  FROM main.node UNION ALL
  SELECT id, name, device, accepted, failed, consecutive_valid, failed_in_a_row, last_seen,
    expelled, outvoted
  FROM temp.newcomer;
)sql";

/// Creates the file for this user only, since it contains the key of the tokens. SQLite gives its
/// other files the same mode. If the file cannot be created, SQLite reports why.
std::string with_file(const std::filesystem::path& file) {
  if (file != ":memory:") {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor >= 0) ::close(descriptor);
  }
  return file.string();
}

}  // namespace

SqliteStore::SqliteStore(const std::filesystem::path& file, const SqliteOptions& options)
    : folder_(file == ":memory:" ? "" : std::filesystem::absolute(file).parent_path()),
      free_floor_(options.free_floor),
      database_(with_file(file)) {
  // One process at a time: Pool's memory would not see another's changes. NORMAL: a commit writes
  // to the log, and commit(durable) syncs the log.
  database_.exec(("PRAGMA busy_timeout = " + std::to_string(options.busy_milliseconds)).c_str());
  database_.exec(
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; "
      "PRAGMA temp_store = MEMORY;");
  expect_whole();
  make_schema(file);
  database_.exec(kNewcomers);
  if (!folder_.empty()) {
    acknowledged_.emplace(file.string() + "-acknowledged");
    find_lost(options.on_lost);
    repair(options);
  }
  if (options.max_bytes) {
    auto& page = sql("PRAGMA page_size").with();
    page.row();
    const int64_t pages = static_cast<int64_t>(*options.max_bytes) / page.integer(0);
    page.reset();
    database_.exec(("PRAGMA max_page_count = " + std::to_string(pages)).c_str());
  }
}

void SqliteStore::make_schema(const std::filesystem::path& file) {
  auto& version = sql("PRAGMA user_version").with();
  version.row();
  const int64_t found = version.integer(0);
  version.reset();
  if (found != 0 && found != kSchema)  // 0: a new file
    throw Error(message("store", "expected ", file.string(), " of schema ", kSchema,
                        ", got schema ", found,
                        "; use the version of kaiseki that wrote it, or another folder"));
  begin();                                  // takes the lock, so that a second process stops here
  if (found == kSchema) return rollback();  // without a write, as the disk may be full
  database_.exec(kTables);
  database_.exec(("PRAGMA user_version = " + std::to_string(kSchema)).c_str());
  commit(true);
}

/// The check reads the whole file, and compares each table with its indexes. A missing entry of an
/// index would hide a ticket, and its task would never end.
void SqliteStore::expect_whole() {
  auto& query = sql("PRAGMA integrity_check(1)").with();
  const std::string found = query.row() ? query.text(0) : "nothing";
  query.reset();
  if (found != "ok") database_.fail_damaged(found);
}

void SqliteStore::expect_room() const {
  if (folder_.empty()) return;
  std::error_code error;
  const uint64_t available = std::filesystem::space(folder_, error).available;
  if (!error && available < free_floor_)
    throw DiskFull(message("store", "expected ", format_bytes(free_floor_),
                           " left over on the disk of ", folder_.string(), ", got ",
                           format_bytes(available),
                           ": the disk is full; make room. Accepted results are kept"));
}

AcknowledgedIds::Ids SqliteStore::last_ids() {
  AcknowledgedIds::Ids ids{};
  auto& query = sql("SELECT name, seq FROM sqlite_sequence").with();
  while (query.row())
    for (size_t i = 0; i < ids.size(); ++i)
      if (query.text(0) == AcknowledgedIds::kTables[i]) ids[i] = query.integer(1);
  return ids;
}

void SqliteStore::find_lost(const std::function<void(const std::string&)>& report) {
  const auto tell = [&](const std::string& what) {
    if (report) report(what);
  };
  const auto before = acknowledged_->read();
  if (!before)
    return tell(message("store", acknowledged_->file().string(),
                        ", which has the last ids, is damaged: acknowledged results may be lost"));
  const AcknowledgedIds::Ids now = last_ids();
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i] >= (*before)[i]) continue;
    const std::string_view table = AcknowledgedIds::kTables[i];
    begin();
    sql("DELETE FROM sqlite_sequence WHERE name = ?").with(table).run();
    sql("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)").with(table, (*before)[i]).run();
    commit(false);
    tell(message("store", "expected ", table, " ", (*before)[i], ", which was acknowledged, got ",
                 now[i], " as the last: ", (*before)[i] - now[i],
                 " are lost, as the file or its log was damaged or replaced"));
  }
}

sqlite::Statement& SqliteStore::sql(const char* text) {
  return statements_.try_emplace(text, database_, text).first->second;
}

void SqliteStore::begin() {
  if (!lost_.text.empty()) throw StoreLost(lost_);
  sql("BEGIN IMMEDIATE").with().run();
}

void SqliteStore::commit(bool durable) {
  try {
    sql("COMMIT").with().run();
    if (durable) database_.sync_log();
    if (durable && acknowledged_) acknowledged_->write(last_ids());
  } catch (const StoreLost& error) {
    lost_ = error.as_message();  // the system forgets a failed sync: the next would seem to succeed
    throw;
  }
}

void SqliteStore::rollback() noexcept {
  try {
    // On a full disk SQLite has rolled back by itself.
    if (database_.in_transaction()) database_.exec("ROLLBACK");
  } catch (const std::exception&) {
    // SQLite undoes the transaction when the file is opened again.
  }
}

std::string SqliteStore::setting(std::string_view name) {
  auto& query = sql("SELECT value FROM setting WHERE name = ?").with(name);
  std::string value = query.row() ? query.text(0) : std::string();
  query.reset();
  return value;
}

void SqliteStore::set_setting(std::string_view name, std::string_view value) {
  sql("DELETE FROM setting WHERE name = ?").with(name).run();
  sql("INSERT INTO setting (name, value) VALUES (?, ?)").with(name, value).run();
}

ProjectId SqliteStore::add_project(const std::string& name, double weight,
                                   std::optional<double> lapse) {
  expect_room();
  sql("INSERT INTO project (name, weight) VALUES (?, ?)").with(name, weight).run();
  const ProjectId id = database_.last_id();
  if (lapse)
    sql("INSERT INTO project_lapse (project, seconds) VALUES (?, ?)").with(id, *lapse).run();
  return id;
}

void SqliteStore::set_weight(ProjectId project, double weight) {
  sql("UPDATE project SET weight = ? WHERE id = ?").with(weight, project).run();
}

void SqliteStore::remove_project(ProjectId project) {
  for (const char* text :
       {"DELETE FROM lease WHERE ticket IN (SELECT t.id FROM ticket t JOIN task ON task.id = "
        "t.task "
        "WHERE task.project = ?)",
        "DELETE FROM vote WHERE ticket IN (SELECT t.id FROM ticket t JOIN task ON task.id = t.task "
        "WHERE task.project = ?)",
        "DELETE FROM failure WHERE ticket IN (SELECT t.id FROM ticket t JOIN task "
        "ON task.id = t.task WHERE task.project = ?)",
        "DELETE FROM ticket_blob WHERE ticket IN (SELECT t.id FROM ticket t JOIN task "
        "ON task.id = t.task WHERE task.project = ?)",
        "DELETE FROM ticket_input WHERE ticket IN (SELECT t.id FROM ticket t JOIN task "
        "ON task.id = t.task WHERE task.project = ?)",
        "DELETE FROM result WHERE task IN (SELECT id FROM task WHERE project = ?)",
        "DELETE FROM error WHERE task IN (SELECT id FROM task WHERE project = ?)",
        "DELETE FROM ticket WHERE task IN (SELECT id FROM task WHERE project = ?)",
        "DELETE FROM task WHERE project = ?", "DELETE FROM project_blob WHERE project = ?",
        "DELETE FROM project_lapse WHERE project = ?", "DELETE FROM project WHERE id = ?"})
    sql(text).with(project).run();
}

std::vector<ProjectStatus> SqliteStore::projects() {
  std::vector<ProjectStatus> found;
  auto& query = sql("SELECT id, name, weight FROM project ORDER BY id").with();
  while (query.row()) found.push_back({query.integer(0), query.text(1), query.real(2)});
  auto& lapses = sql("SELECT project, seconds FROM project_lapse").with();
  while (lapses.row()) {
    const auto project = std::ranges::find(found, lapses.integer(0), &ProjectStatus::id);
    if (project != found.end()) project->lapse = lapses.real(1);
  }
  return found;
}

void SqliteStore::keep_blob(ProjectId project, const BlobHash& blob) {
  release_blob(project, blob);
  sql("INSERT INTO project_blob (project, hash) VALUES (?, ?)").with(project, blob).run();
}

void SqliteStore::release_blob(ProjectId project, const BlobHash& blob) {
  sql("DELETE FROM project_blob WHERE project = ? AND hash = ?").with(project, blob).run();
}

TaskId SqliteStore::add_task(ProjectId project, const TaskSpec& spec) {
  expect_room();
  sql("INSERT INTO task (project, name, native_function, module, priority, verification, quorum, "
      "max_attempts, public_data, memory_bytes, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)")
      .with(project, spec.name, spec.function, spec.module, spec.priority,
            static_cast<int>(spec.verification), spec.quorum, spec.max_attempts, spec.public_data,
            static_cast<int64_t>(spec.memory_bytes))
      .run();
  return database_.last_id();
}

void SqliteStore::set_task(TaskId task, TaskState state, int priority) {
  sql("UPDATE task SET state = ?, priority = ? WHERE id = ?")
      .with(static_cast<int>(state), priority, task)
      .run();
}

std::vector<TaskStatus> SqliteStore::tasks() {
  std::vector<TaskStatus> found;
  auto& query =
      sql("SELECT id, project, state, name, native_function, module, priority, "
          "verification, quorum, max_attempts, public_data, memory_bytes FROM task ORDER BY id")
          .with();
  while (query.row()) {
    TaskStatus& task = found.emplace_back();
    task.id = query.integer(0), task.project = query.integer(1);
    task.state = static_cast<TaskState>(query.integer(2));
    task.spec = {query.text(3),
                 query.text(4),
                 query.text(5),
                 static_cast<int>(query.integer(6)),
                 static_cast<Verification>(query.integer(7)),
                 static_cast<int>(query.integer(8)),
                 static_cast<int>(query.integer(9)),
                 query.integer(10) != 0,
                 static_cast<uint64_t>(query.integer(11))};
  }
  return found;
}

std::unique_ptr<Store> open_sqlite_store(const std::filesystem::path& file,
                                         const SqliteOptions& options) {
  return std::make_unique<SqliteStore>(file, options);
}

}  // namespace kaiseki::dist
