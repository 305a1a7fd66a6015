// SPDX-License-Identifier: MIT
// Trains on one machine first, and over the pool after a given accuracy (MILJS paper, section 3.4).
#pragma once

#include <string_view>

#include "dist/train/pool_updater.h"
#include "nn/train/extension.h"

namespace kaiseki::dist {

struct PoolAfter {
  double accuracy = 0;  // 0 to 1, of the evaluation, or of training if there is none
};

/// Parses a text such as "accuracy=0.5". Throws Error.
PoolAfter parse_pool_after(std::string_view text);

/// Calls PoolUpdater::join() after the epoch that reached the accuracy. Checkpoints store this.
class JoinPool : public nn::Extension {
 public:
  /// The updater must have PoolTrainingOptions::alone, and must outlive this.
  JoinPool(PoolUpdater& updater, const PoolAfter& after) : updater_(updater), after_(after) {}
  void on_epoch(nn::Trainer& trainer) override;
  void save(nn::Metadata& state) const override;
  void restore(const nn::Metadata& state) override;

 private:
  PoolUpdater& updater_;
  PoolAfter after_;
};

}  // namespace kaiseki::dist
