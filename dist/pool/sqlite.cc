// SPDX-License-Identifier: MIT
#include "dist/pool/sqlite.h"

#include <sqlite3.h>

#include <cerrno>
#include <span>

#include "base/sha256.h"
#include "dist/pool/store.h"

namespace kaiseki::dist::sqlite {
namespace {

constexpr int kChecksumDigits = 16;

const char* advice(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "; make room on the disk. Accepted results are kept";
    case SQLITE_BUSY:
      return "; another process has this pool open, stop it first";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "; restore the file from a copy, or use a new folder";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return "; give this user the right to write the file and its folder";
    default:
      return "";
  }
}

void checksum(sqlite3_context* context, int count, sqlite3_value** values) {
  Sha256 hash;
  for (int i = 0; i < count; ++i) {
    const void* from = sqlite3_value_blob(values[i]);  // before the size, as it may convert
    const int size = sqlite3_value_bytes(values[i]);
    hash.update(std::as_bytes(std::span(&size, 1)));
    if (from) hash.update({static_cast<const std::byte*>(from), static_cast<size_t>(size)});
  }
  sqlite3_result_text(context, hash.finish().c_str(), kChecksumDigits, SQLITE_TRANSIENT);
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Database::Database(const std::string& file) : file_(file) {
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(file.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail(code);
  sqlite3_extended_result_codes(handle, 1);
  const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  const int made = sqlite3_create_function_v2(handle, "checksum", -1, flags, nullptr, checksum,
                                              nullptr, nullptr, nullptr);
  if (made != SQLITE_OK) fail(made);
}

void Database::lost(int code) const {
  throw StoreLost(message("store", "expected to bring ", file_,
                          " to the disk, got: ", sqlite3_errstr(code),
                          "; check the disk, then start again. Acknowledged results are kept"));
}

void Database::fail(int code) const {
  if (code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC) lost(code);
  const Message what = message(
      "store", "expected to use ", file_,
      ", got: ", handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code), advice(code));
  const int kind = code & 0xff;
  const bool is_quota =
      kind == SQLITE_IOERR && handle_ && sqlite3_system_errno(handle_.get()) == EDQUOT;
  if (kind == SQLITE_FULL || is_quota) throw DiskFull(what);
  throw Error(what);
}

void Database::fail_damaged(const std::string& problem) const {
  throw Error(message("store", "expected a whole file ", file_, ", got: ", problem,
                      advice(SQLITE_CORRUPT)));
}

void Database::exec(const char* sql) {
  const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

int64_t Database::changes() const { return sqlite3_changes64(handle_.get()); }
int64_t Database::last_id() const { return sqlite3_last_insert_rowid(handle_.get()); }
bool Database::in_transaction() const { return !sqlite3_get_autocommit(handle_.get()); }

void Database::sync_log() {
  sqlite3_file* log = nullptr;
  int code = sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (code == SQLITE_OK && log && log->pMethods)
    code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
  if (code != SQLITE_OK) lost(code);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(Database& database, const char* sql) : database_(database) {
  sqlite3_stmt* statement = nullptr;
  check(
      sqlite3_prepare_v3(database.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr));
  statement_.reset(statement);
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_.fail(code);
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

bool Statement::row() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  const int again = sqlite3_reset(statement_.get());
  if (code != SQLITE_DONE) database_.fail(again);
  return false;
}

int64_t Statement::run() {
  while (row()) {
  }
  return database_.changes();
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::text(int column) const {
  const auto* from = sqlite3_column_text(statement_.get(), column);
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
  return from ? std::string(reinterpret_cast<const char*>(from), size) : std::string();
}

ByteVector Statement::blob(int column) const {
  const auto* from = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
  const auto size = static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column));
  return from ? ByteVector(from, from + size) : ByteVector();
}

void Statement::bind(int index, int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), index, value));
}

void Statement::bind(int index, double value) {
  check(sqlite3_bind_double(statement_.get(), index, value));
}

void Statement::bind(int index, const std::string& value) { bind(index, std::string_view(value)); }

void Statement::bind(int index, std::string_view value) {
  // An empty view may have no address. SQLite would bind NULL.
  const char* from = value.empty() ? "" : value.data();
  check(
      sqlite3_bind_text64(statement_.get(), index, from, value.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::bind(int index, ByteView value) {
  const void* from = value.empty() ? static_cast<const void*>("") : value.data();
  check(sqlite3_bind_blob64(statement_.get(), index, from, value.size(), SQLITE_STATIC));
}

}  // namespace kaiseki::dist::sqlite
