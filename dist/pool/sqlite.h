// SPDX-License-Identifier: MIT
// A thin wrapper of the part of SQLite's C interface that the store uses. It has a database, and
// statements that are prepared once and run many times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kaiseki::dist::sqlite {

/// SQL has the function checksum(value, ...): 16 digits of the SHA-256 of the values.
class Database {
 public:
  /// Throws Error if the file cannot be opened.
  explicit Database(const std::string& file);
  /// Runs one or more statements without parameters or results.
  void exec(const char* sql);
  /// Number of rows that the last statement changed.
  int64_t changes() const;
  int64_t last_id() const;
  bool in_transaction() const;
  /// Writes committed transactions to the disk.
  void sync_log();
  sqlite3* get() const { return handle_.get(); }
  /// Throws Error with the file, the reason and advice.
  [[noreturn]] void fail(int code) const;
  [[noreturn]] void fail_damaged(const std::string& problem) const;
  [[noreturn]] void lost(int code) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
  std::string file_;
};

class Statement {
 public:
  Statement(Database& database, const char* sql);

  /// Binds values to the question marks in order. Call row() or run() next.
  template <typename... Values>
  Statement& with(const Values&... values) {
    reset();
    int index = 0;
    (bind(++index, values), ...);
    return *this;
  }
  /// Steps to the next row. Returns false after the last.
  bool row();
  /// Runs to the end. Returns the number of rows that changed.
  int64_t run();
  /// Ends the statement before its last row.
  void reset();

  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  ByteVector blob(int column) const;

 private:
  void bind(int index, int64_t value);
  void bind(int index, int value) { bind(index, static_cast<int64_t>(value)); }
  void bind(int index, bool value) { bind(index, static_cast<int64_t>(value)); }
  void bind(int index, double value);
  /// The text or bytes must stay valid until the statement has run.
  void bind(int index, const std::string& value);
  void bind(int index, std::string_view value);
  void bind(int index, ByteView value);
  void bind(int index, const ByteVector& value) { bind(index, ByteView(value)); }
  void check(int code) const;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace kaiseki::dist::sqlite
