// SPDX-License-Identifier: MIT
#include "dist/pool/transaction.h"

#include <exception>

#include "base/error.h"
#include "dist/pool/crash_point.h"

namespace kaiseki::dist {

void Transaction::load() {
  loaded_ = false;
  hooks_.load();
  loaded_ = true;
}

void Transaction::begin() {
  if (!loaded_) load();
  store_.begin();
  open_ = true;
}

void Transaction::commit() {
  hooks_.write();
  crash_point("commit.before");
  store_.commit(durable_);
  crash_point("commit.after");
  open_ = durable_ = false;
  hooks_.committed();
  reports_.commit();
}

void Transaction::undo() noexcept {
  store_.rollback();
  open_ = durable_ = broken_ = false;
  reports_.discard();
  try {
    load();
  } catch (const std::exception&) {
    loaded_ = false;  // the next change tries again
  }
}

void Transaction::expect_whole() const {
  if (broken_)
    throw Error(
        message("pool", "the store failed in a call of the batch; nothing of the batch was kept"));
}

void Transaction::deliver() {
  if (!open_) reports_.deliver();
}

Change::Change(Transaction& transaction, bool durable)
    : transaction_(transaction), own_(!transaction.open_) {
  if (own_) transaction_.begin();
  // A full disk ends SQLite's transaction. Without this check, later steps would be stored alone.
  transaction_.expect_whole();
  transaction_.durable_ |= durable;
}

Change::~Change() {
  if (done_) return;
  if (own_)
    transaction_.undo();
  else
    transaction_.broken_ = true;
}

void Change::commit() {
  transaction_.expect_whole();
  if (own_) transaction_.commit();
  done_ = true;
  transaction_.deliver();
}

}  // namespace kaiseki::dist
