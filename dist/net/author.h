// SPDX-License-Identifier: MIT
// Author: the author's side of a pool as training uses it: of the pool in this process, or of a
// coordinator elsewhere (dist/net/remote_author.h).
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "dist/pool/blobs.h"
#include "dist/pool/pool.h"
#include "matrix/error.h"

namespace kaiseki::dist {

/// What native nodes know the work as.
inline constexpr const char* kTrainingFunction = "kaiseki.train";
/// Tickets of it that a node may hold: it computes one and fetches for the other.
inline constexpr int kTrainingHeld = 2;
/// So often a ticket of it may fail at nodes; then who trains computes it.
inline constexpr int kTrainingAttempts = 2;
/// What a pool has to know of it. How long nodes on slow links are waited for, who trains decides.
inline void add_training(PoolOptions& options) {
  options.most_held.emplace(kTrainingFunction, kTrainingHeld);
  options.unhurried.insert(kTrainingFunction);
}

/// The coordinator does not answer, or no longer knows what was made there: an Author that throws
/// it has nothing left in the pool, and everything has to be handed over again.
class AuthorLost : public Error {
 public:
  using Error::Error;
};

/// One task, and the blobs of its tickets. Used by one thread.
class Author {
 public:
  virtual ~Author() = default;

  /// Whether calls make sense now; false for a while after AuthorLost. Calls that only forget
  /// something (release_blob, forget, expel) are taken at any time.
  virtual bool ready() { return true; }
  /// Runs calls of this, together if it can.
  virtual void batch(const std::function<void()>& calls) = 0;
  virtual std::vector<NodeStatus> nodes() = 0;
  virtual void expel(const NodeId& node, const std::string& reason) = 0;

  /// A blob that stays until release_blob().
  virtual void put_blob(const BlobHash& hash, ByteView bytes) = 0;
  virtual void release_blob(const BlobHash& hash) = 0;
  /// A blob that tickets are about to name.
  virtual BlobHash store(ByteView bytes) = 0;

  /// The first ticket's id; the others follow without a gap.
  virtual TicketId add_tickets(std::span<const TicketSpec> tickets) = 0;
  /// What an operator made of the task; running before there is one.
  virtual TaskState state() = 0;
  /// Forgets tickets up to this one, which are all done or dead.
  virtual void forget(TicketId through) = 0;
  /// Forgets tickets up to this one, done or not.
  virtual void abandon(TicketId through) = 0;
  virtual ByteVector result(const Finished& finished) = 0;
  /// Now and then: what nobody needs any more leaves the disk.
  virtual void sweep() = 0;
};

/// Of a pool in this process; both must outlive it. Without `public_data` only trusted nodes are
/// there for it.
std::unique_ptr<Author> local_author(Pool& pool, BlobStore& blobs, bool public_data = true);

}  // namespace kaiseki::dist
