// SPDX-License-Identifier: MIT
// Training alone first, over the pool after it has got somewhere (MILJS paper, section 3.4:
// --pool-after accuracy=0.5).
#pragma once

#include <string_view>

#include "dist/train/pool_updater.h"
#include "nn/train/extension.h"

namespace kaiseki::dist {

struct PoolAfter {
  double accuracy = 0;  // 0..1, of the evaluation, or without one of training, over an epoch
};

/// "accuracy=0.5". Throws Error.
PoolAfter parse_pool_after(std::string_view text);

/// Lets the updater join after the epoch that reached it. A checkpoint remembers that it did.
class JoinPool : public nn::Extension {
 public:
  /// The updater, made with `alone`, must live as long as this.
  JoinPool(PoolUpdater& updater, const PoolAfter& after) : updater_(updater), after_(after) {}
  void on_epoch(nn::Trainer& trainer) override;
  void save(nn::Metadata& state) const override;
  void restore(const nn::Metadata& state) override;

 private:
  PoolUpdater& updater_;
  PoolAfter after_;
};

}  // namespace kaiseki::dist
