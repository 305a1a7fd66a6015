// SPDX-License-Identifier: MIT
// RemotePool: a channel over a remote coordinator, for training and grid searches. A thread of its
// own makes the requests.
#pragma once

#include <memory>
#include <string>

#include "dist/net/author.h"
#include "dist/net/curves.h"
#include "dist/net/wire.h"
#include "dist/train/channel.h"

namespace kaiseki::dist {

class RemotePool {
 public:
  /// `to` contains the author's token. Throws Error if the coordinator does not answer or rejects
  /// the token. If the coordinator is lost later, the channel has no nodes until it is back. Then
  /// it submits the open tickets again.
  explicit RemotePool(const WireOptions& to, const AuthorWork& work = {});
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
