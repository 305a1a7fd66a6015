// SPDX-License-Identifier: MIT
// Snapshots: recent states of a training, so that its last steps can be trained again without wrong
// results.
#pragma once

#include <cstdint>
#include <deque>

#include "nn/train/run_snapshot.h"
#include "nn/train/updater.h"

namespace kaiseki::dist {

class Snapshots {
 public:
  /// Covers at least the last `steps` steps, and up to twice as many. It keeps 2 to 8 snapshots in
  /// host memory: as many as fit into 1 GiB, and at least two. A snapshot has the bytes of the
  /// weights and of the optimizer's state. If `steps` is 0, it keeps none. The updater must outlive
  /// this.
  Snapshots(nn::Updater& updater, int64_t steps);

  /// Call it before a step. Takes a snapshot if the last one is old enough.
  void keep();
  bool empty() const { return ring_.empty(); }
  /// The first step that can be trained again. Must not be called if empty().
  int64_t oldest() const { return ring_.front().step(); }
  /// Restores the newest snapshot that is not after `step`, or else the oldest. Returns its step.
  /// Must not be called if empty().
  int64_t restore(int64_t step);

 private:
  nn::Updater& updater_;
  int64_t steps_, every_ = 1;
  size_t most_ = 2;
  std::deque<nn::RunSnapshot> ring_;  // the oldest first
};

}  // namespace kaiseki::dist
