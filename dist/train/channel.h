// SPDX-License-Identifier: MIT
// Channel: training's interface to its nodes. PoolChannel (dist/net/pool_channel.h) uses a pool,
// and LocalNodes (dist/train/local_nodes.h) simulates nodes in this process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "dist/trust/expulsion.h"

namespace kaiseki::dist {

enum class BlobKind : uint8_t { network, weights, samples };

struct NodeRate {
  std::string name;
  double gflops = 20;                         // for a convolution, measured when the node joined
  double down_mbit_s = 100, up_mbit_s = 100;  // of its link
  double round_trip_s = 0.02;
  int at_once = 1;         // tickets that it holds, so that transfers overlap with computing
  bool volunteer = false;  // not the operator's machine: its owner pays for the bytes
};

/// A ticket for nodes. The bytes must outlive it.
struct Submission {
  const ByteVector& ticket;
  uint64_t max_result = 0;    // bytes
  double work = 1;            // cost relative to other tickets
  std::string prefer = {};    // the node that gets it first, if it is idle
  uint64_t memory_bytes = 0;  // that a node needs for it
};

struct TicketResult {
  uint64_t ticket = 0;
  std::string node = {};
  ByteVector bytes = {};
  bool dead = false;  // no result: too many nodes failed
};

/// Use it in one thread.
class Channel {
 public:
  virtual ~Channel() = default;

  /// The nodes that are connected now.
  virtual std::vector<NodeRate> nodes() = 0;

  /// Makes bytes available to nodes until drop_blob(). `hash`: their SHA-256.
  virtual void put_blob(BlobKind kind, const std::string& hash,
                        std::shared_ptr<const ByteVector> bytes) = 0;
  virtual void drop_blob(const std::string& hash) = 0;

  /// Issues a ticket to nodes, repeatedly until close(). The caller selects a new `id`.
  virtual void submit(uint64_t id, const Submission& ticket) = 0;
  /// Ends a ticket: its result has arrived or is not needed.
  virtual void close(uint64_t id) = 0;
  /// Returns the next result of any ticket, in any order. A result may come twice. If the ticket
  /// remains open, nodes get it again. Returns nullopt after `seconds` without a result, or at once
  /// if there are no nodes.
  virtual std::optional<TicketResult> receive(double seconds) = 0;
  /// Whether an operator paused the work. The caller then computes no tickets itself, and receive()
  /// waits for a short time only.
  virtual bool is_paused() { return false; }

  /// The node sent a wrong result. It gets no further tickets.
  virtual void expel(const std::string& node, const ExpulsionReason& reason) = 0;
};

}  // namespace kaiseki::dist
