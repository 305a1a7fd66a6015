// SPDX-License-Identifier: MIT
// A native node on a thread of this process.
#pragma once

#include <atomic>
#include <thread>

#include "dist/node/node.h"

namespace kaiseki::test {

struct Computing {
  Computing(const std::string& url, dist::NodeFunctions functions, double ticket_seconds = 300)
      : node({.wire = {.url = dist::parse_coordinator_url(url), .token = "token"},
              .info = {.name = "in this process", .threads = 2},
              .functions = std::move(functions),
              .stop = [this] { return stop.load(); },
              .longest_wait = 0.5,
              .ticket_seconds = ticket_seconds}),
        thread([this] { counts = node.run(); }) {}
  ~Computing() { end(); }
  /// The node's counts.
  dist::NodeCounts end() {
    stop = true;
    if (thread.joinable()) thread.join();
    return counts;
  }

  std::atomic<bool> stop = false;
  dist::NodeCounts counts;
  dist::Node node;
  std::thread thread;
};

}  // namespace kaiseki::test
