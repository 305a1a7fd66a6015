// SPDX-License-Identifier: MIT
// Node: joins a coordinator and computes its tickets with native functions on its own threads.
#pragma once

#include <memory>
#include <optional>

#include "dist/net/log.h"
#include "dist/net/wire.h"
#include "dist/node/functions.h"

namespace kaiseki::dist {

struct NodeOptions {
  WireOptions wire;
  NodeInfo info;  // the node fills in `functions`
  NodeFunctions functions;
  std::function<bool()> stop = {};  // called often; true: return the leases and end
  EventLog::Sink log = {};
  /// The seed of the random times between attempts to connect. Without a value it is random.
  std::optional<uint64_t> seed = {};
  double longest_wait = 30;  // seconds between two attempts
  /// A ticket that takes longer is given back as failed, and another thread takes the place of its
  /// thread. The time counts from the start of the function.
  double ticket_seconds = 300;
};

/// `accepted` counts results that ended their ticket. Votes and duplicates do not. The threads of
/// `abandoned` tickets may still run.
struct NodeCounts {
  int64_t accepted = 0, refused = 0, failed = 0, connections = 0, abandoned = 0;
};

class Node {
 public:
  explicit Node(NodeOptions options);
  ~Node();
  /// Runs until stop() returns true. Reconnects after an interruption, and keeps results until the
  /// coordinator has them. Throws WrongToken if the coordinator refuses the node's token, and Error
  /// if it expels the node.
  NodeCounts run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::dist
