// SPDX-License-Identifier: MIT
// Transaction: the pool's transaction of the store. Change: one step of it.
#pragma once

#include <functional>

#include "dist/pool/reports.h"
#include "dist/pool/store.h"

namespace kaiseki::dist {

class Transaction {
 public:
  /// Callbacks of the owner of the parts.
  struct Hooks {
    std::function<void()> load;       // reads all parts from the store
    std::function<void()> write;      // writes the rows that change once per transaction
    std::function<void()> committed;  // the transaction is in the store
  };
  Transaction(Store& store, Reports& reports, Hooks hooks)
      : store_(store), reports_(reports), hooks_(std::move(hooks)) {}

  /// Reads the parts from the store.
  void load();
  bool is_open() const { return open_; }

 private:
  friend class Change;

  void begin();
  void commit();
  /// Rolls the store back and reads the parts from it again.
  void undo() noexcept;
  /// Throws Error if a step of this transaction has failed.
  void expect_whole() const;
  void deliver();

  Store& store_;
  Reports& reports_;
  Hooks hooks_;
  bool loaded_ = false;
  bool open_ = false, durable_ = false, broken_ = false;
};

/// A change of several steps. It is its own transaction, or part of the one that is open. Without
/// commit() the whole transaction is undone.
class Change {
 public:
  /// If `durable`, the transaction is on the disk when its commit() returns.
  Change(Transaction& transaction, bool durable);
  ~Change();
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  void commit();

 private:
  Transaction& transaction_;
  const bool own_;
  bool done_ = false;
};

}  // namespace kaiseki::dist
