// SPDX-License-Identifier: MIT
// RemotePool: training's channel over a coordinator that runs elsewhere, with the thread that talks
// to it.
#pragma once

#include <memory>
#include <string>

#include "dist/net/curves.h"
#include "dist/net/wire.h"
#include "dist/train/channel.h"

namespace kaiseki::dist {

class RemotePool {
 public:
  /// `to` has the author's token; without `public_data` only trusted nodes get tickets. Throws
  /// Error when the coordinator does not answer or wants another token. Later it may go and come
  /// back: meanwhile there are no nodes, and what is open is handed over again.
  explicit RemotePool(const WireOptions& to, bool public_data = true);
  /// What this made at the coordinator goes.
  ~RemotePool();

  Channel& channel();
  /// How training goes, for the coordinator's console.
  void report(const CurvePoint& point);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kaiseki::dist
