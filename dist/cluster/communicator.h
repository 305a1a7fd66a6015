// SPDX-License-Identifier: MIT
// Communicator: messages between the ranks of a group. Each rank runs the same program. The names
// are MPI's. dist/cluster/mpi.h has the ranks of mpirun. Tests run ranks in one process.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/error.h"

namespace kaiseki::dist {

/// A message failed, or this process called cancel(). If another process fails, MPI ends the job.
class RankFailed : public Error {
 public:
  using Error::Error;
};

/// A message in transfer.
class Transfer {
 public:
  /// The memory of a message must live as long as this. If wait() did not return, the message may
  /// be lost, and its communicator must not be used again.
  virtual ~Transfer() = default;
  /// Returns when the memory may be used again, because it was sent or the message has arrived.
  /// Throws RankFailed. Call it once.
  virtual void wait() = 0;
};

/// Use it in one thread. Messages between two ranks arrive in the order in which they were sent.
class Communicator {
 public:
  virtual ~Communicator() = default;
  /// From 0 to size() - 1.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The name of the machine of a rank, for messages.
  virtual std::string host(int rank) const = 0;

  /// send() and receive() return at once.
  virtual std::unique_ptr<Transfer> send(int to, ByteView message) = 0;
  /// The message must have as many bytes as `memory`. Otherwise wait() throws RankFailed. With MPI,
  /// a longer message may damage the memory of the process.
  virtual std::unique_ptr<Transfer> receive(int from, std::span<std::byte> memory) = 0;

  /// A communicator of the ranks that give the same group. Its ranks are ordered by `order`, then
  /// by rank(). All ranks must call it. It is for another thread, or for a part of the ranks.
  virtual std::unique_ptr<Communicator> split(int group, int order) = 0;

  /// Call it in a handler if this rank cannot go on. From then on, the transfers of all
  /// communicators in this process throw RankFailed. Any thread may call it.
  virtual void cancel() noexcept = 0;
};

}  // namespace kaiseki::dist
