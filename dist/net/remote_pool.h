// SPDX-License-Identifier: MIT
// RemotePool: training's channel over a remote coordinator. A thread of its own makes the requests.
#pragma once

#include <memory>
#include <string>

#include "dist/net/curves.h"
#include "dist/net/wire.h"
#include "dist/train/channel.h"

namespace kaiseki::dist {

class RemotePool {
 public:
  /// `to` contains the author's token. Without `public_data` only trusted nodes get tickets. Throws
  /// Error if the coordinator does not answer or rejects the token. If the coordinator is lost
  /// later, the channel has no nodes until it is back. Then it submits the open tickets again.
  explicit RemotePool(const WireOptions& to, bool public_data = true);
  /// Deletes the projects of this run on the coordinator.
  ~RemotePool();

  Channel& channel();
  /// Sends a point of the curve for the coordinator's console.
  void report(const CurvePoint& point);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::dist
