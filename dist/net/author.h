// SPDX-License-Identifier: MIT
// Author: the author's side of a pool, for training and grid searches. The pool is in this process,
// or behind a remote coordinator (dist/net/remote_author.h).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "dist/pool/blobs.h"
#include "dist/pool/pool.h"

namespace kaiseki::dist {

/// The name of the native function that computes training tickets.
inline constexpr const char* kTrainingFunction = "kaiseki.train";
/// The name of the native function that computes the scores of a grid search.
inline constexpr const char* kFitFunction = "kaiseki.fit";
/// The most training tickets that a node may hold: it computes one and fetches data for the other.
inline constexpr int kTrainingHeld = 2;
/// The number of times that a ticket may fail on nodes before the author computes it itself.
inline constexpr int kAuthorAttempts = 2;
/// Sets the pool's options for the tickets of authors. The author decides how long it waits for
/// nodes, because it computes tickets itself. A fit uses all threads, so a node holds one.
inline void add_author_functions(PoolOptions& options) {
  options.max_held.emplace(kTrainingFunction, kTrainingHeld);
  options.max_held.emplace(kFitFunction, 1);
  options.soft_deadlines.insert({kTrainingFunction, kFitFunction});
}

/// An author gives this work to nodes.
struct AuthorWork {
  std::string function = kTrainingFunction;
  std::string name = "training";  // for the console and for messages
  bool public_data = true;        // false: only trusted nodes get tickets
};

/// The coordinator does not answer, or has lost the author's task. The pool then has nothing of
/// this author, and the caller adds everything again.
class AuthorLost : public Error {
 public:
  using Error::Error;
};

/// One task, and the blobs of its tickets. Used by one thread.
class Author {
 public:
  virtual ~Author() = default;

  /// Returns false for a while after AuthorLost. The calls release_blob(), forget() and expel() are
  /// accepted at any time.
  virtual bool ready() { return true; }
  /// Runs calls of this author, in one transaction if possible.
  virtual void batch(const std::function<void()>& calls) = 0;
  /// The nodes that may compute its tickets.
  virtual std::vector<NodeStatus> nodes() = 0;
  virtual void expel(const NodeId& node, const ExpulsionReason& reason) = 0;

  /// Stores a blob until release_blob().
  virtual void put_blob(const BlobHash& hash, ByteView bytes) = 0;
  virtual void release_blob(const BlobHash& hash) = 0;
  /// Stores a blob for tickets that the caller is about to add.
  virtual BlobHash store(ByteView bytes) = 0;

  /// Returns the first ticket's id. The ids of the others follow without a gap. The first call
  /// declares the memory of all tickets.
  virtual TicketId add_tickets(std::span<const TicketSpec> tickets, uint64_t memory_bytes) = 0;
  /// The state that an operator set. It is `running` before there is a task.
  virtual TaskState state() = 0;
  /// Deletes the tickets up to `through`. All of them are done or dead.
  virtual void forget(TicketId through) = 0;
  /// Deletes the tickets up to `through`, open ones included.
  virtual void abandon(TicketId through) = 0;
  virtual ByteVector result(const Finished& finished) = 0;
  /// Deletes unused data from the disk. The caller calls it from time to time.
  virtual void sweep() = 0;
};

/// An author of a pool in this process. `pool` and `blobs` must outlive it.
std::unique_ptr<Author> local_author(Pool& pool, BlobStore& blobs, const AuthorWork& work = {});

}  // namespace kaiseki::dist
