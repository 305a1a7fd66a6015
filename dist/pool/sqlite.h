// SPDX-License-Identifier: MIT
// The little of SQLite's C interface that the store uses: a database, and statements that are
// prepared once and run many times.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "nn/io/bytes.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kaiseki::dist::sqlite {

class Database {
 public:
  /// Throws Error when the file cannot be opened.
  explicit Database(const std::string& file);
  /// One or more statements without parameters or results.
  void exec(const char* sql);
  /// Rows that the last statement changed.
  int64_t changes() const;
  int64_t last_id() const;
  bool in_transaction() const;
  /// Brings what was committed to the disk.
  void sync_log();
  sqlite3* get() const { return handle_.get(); }
  /// Throws Error with the file, the reason and what to do about it.
  [[noreturn]] void fail(int code) const;
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

  /// Values for the question marks, in order; then row() or run().
  template <typename... Values>
  Statement& with(const Values&... values) {
    reset();
    int index = 0;
    (bind(++index, values), ...);
    return *this;
  }
  /// To the next row, or false after the last.
  bool row();
  /// To the end. How many rows it changed.
  int64_t run();
  /// No further row is wanted.
  void reset();

  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  nn::ByteVector blob(int column) const;

 private:
  void bind(int index, int64_t value);
  void bind(int index, int value) { bind(index, static_cast<int64_t>(value)); }
  void bind(int index, bool value) { bind(index, static_cast<int64_t>(value)); }
  void bind(int index, double value);
  /// The text and the bytes must stay until the statement has run.
  void bind(int index, const std::string& value);
  void bind(int index, std::string_view value);
  void bind(int index, nn::ByteView value);
  void bind(int index, const nn::ByteVector& value) { bind(index, nn::ByteView(value)); }
  void check(int code) const;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace kaiseki::dist::sqlite
