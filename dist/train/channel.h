// SPDX-License-Identifier: MIT
// Channel: how training reaches its nodes. The pool is one, LocalNodes (dist/train/local_nodes.h)
// another, in this process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nn/io/bytes.h"

namespace kaiseki::dist {

using nn::ByteVector;
using nn::ByteView;

enum class BlobKind : uint8_t { network, weights, samples };

struct NodeRate {
  std::string name;
  double gflops = 20;                         // of a convolution, measured when it joined
  double down_mbit_s = 100, up_mbit_s = 100;  // of its link
  double round_trip_s = 0.02;
  int at_once = 1;  // tickets that it holds: while it computes one, others travel
};

/// A ticket for nodes; valid as long as its bytes are.
struct Submission {
  const ByteVector& ticket;
  uint64_t max_result = 0;  // bytes
  double work = 1;          // cost beside others
  std::string prefer = {};  // a node that gets it before others, if it is free
};

/// How the reason begins for which a node is expelled: metrics count by it.
inline constexpr std::string_view kWrongValue = "wrong value", kWrongForm = "wrong form",
                                  kNotFinite = "not finite";

struct TicketResult {
  uint64_t ticket = 0;
  std::string node = {};
  ByteVector bytes = {};
  bool dead = false;  // no result: nodes failed
};

/// Called from one thread.
class Channel {
 public:
  virtual ~Channel() = default;

  /// The nodes that are there now.
  virtual std::vector<NodeRate> nodes() = 0;

  /// Makes bytes available to nodes under the SHA-256 of them, until they are dropped.
  virtual void put_blob(BlobKind kind, const std::string& hash,
                        std::shared_ptr<const ByteVector> bytes) = 0;
  virtual void drop_blob(const std::string& hash) = 0;

  /// A ticket for any node, again and again until close(). `id` is the caller's, and new.
  virtual void submit(uint64_t id, const Submission& ticket) = 0;
  /// Its result is here, or nobody wants it any more.
  virtual void close(uint64_t id) = 0;
  /// The next result of any ticket, in any order, twice too; a ticket that stays open is given to
  /// nodes again. Nothing after `seconds` without one, or at once when no node works.
  virtual std::optional<TicketResult> receive(double seconds) = 0;
  /// An operator holds the work back: nothing of it is to be done elsewhere meanwhile, and
  /// receive() waits for a moment only.
  virtual bool held() { return false; }

  /// The node gave a wrong result: it gets no ticket any more. The reason begins as said above.
  virtual void expel(const std::string& node, const std::string& reason) = 0;
};

}  // namespace kaiseki::dist
