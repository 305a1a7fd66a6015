// SPDX-License-Identifier: MIT
// Node: joins a coordinator and computes its tickets with native functions, on threads of its own.
#pragma once

#include <memory>

#include "dist/net/log.h"
#include "dist/net/wire.h"
#include "dist/node/functions.h"

namespace kaiseki::dist {

struct NodeOptions {
  WireOptions wire;
  NodeInfo info;  // `functions` is filled in
  NodeFunctions functions;
  std::function<bool()> stop = {};  // asked often; true: return leases and end
  EventLog::Sink log = {};
  uint64_t seed = 0;         // of the times between attempts to connect; 0: any
  double longest_wait = 30;  // seconds between them
};

/// Accepted are results that ended their ticket: neither pending nor duplicates.
struct NodeCounts {
  int64_t accepted = 0, refused = 0, failed = 0, connections = 0;
};

class Node {
 public:
  explicit Node(NodeOptions options);
  ~Node();
  /// Until stop() says so. Comes back after any interruption; results are kept until the
  /// coordinator has them. Throws Error when it is not wanted: a wrong token.
  NodeCounts run();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::dist
