// SPDX-License-Identifier: MIT
#include "nn/train/early_stop.h"

#include "nn/train/state_text.h"
#include "nn/train/trainer.h"

namespace kaiseki::nn {

void EarlyStop::on_epoch(Trainer& trainer) {
  if (!trainer.evaluation()) return;
  const double score = trainer.evaluation()->score();
  if (score > best_) {
    best_ = score;
    waited_ = 0;
  } else if (++waited_ >= patience_) {
    trainer.stop("no better evaluation for " + std::to_string(waited_) + " epochs");
  }
}

void EarlyStop::save(Metadata& state) const {
  put(state, "early_stop.best", best_);
  put(state, "early_stop.waited", waited_);
}

void EarlyStop::restore(const Metadata& state) {
  if (!state.contains("early_stop.best")) return;
  best_ = get<double>(state, "early_stop.best");
  waited_ = get<int64_t>(state, "early_stop.waited");
}

}  // namespace kaiseki::nn
