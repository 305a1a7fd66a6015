// SPDX-License-Identifier: MIT
// EarlyStop: ends training if the score of the evaluation does not improve for some epochs.
#pragma once

#include <cstdint>
#include <limits>

#include "nn/train/extension.h"

namespace kaiseki::nn {

class EarlyStop : public Extension {
 public:
  /// Stops after `patience` evaluations in a row without a better score. Add it after the
  /// Evaluator and before the Checkpointer.
  explicit EarlyStop(int64_t patience) : patience_(patience) {}
  void on_epoch(Trainer& trainer) override;
  void save(Metadata& state) const override;
  void restore(const Metadata& state) override;

 private:
  int64_t patience_, waited_ = 0;
  double best_ = -std::numeric_limits<double>::infinity();
};

}  // namespace kaiseki::nn
