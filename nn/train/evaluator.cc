// SPDX-License-Identifier: MIT
#include "nn/train/evaluator.h"

#include <algorithm>

#include "nn/train/trainer.h"

namespace kaiseki::nn {

Evaluator::Evaluator(std::shared_ptr<const Dataset> data, const EvaluateOptions& options,
                     int64_t every)
    : data_(std::move(data)), options_(options), every_(std::max<int64_t>(1, every)) {}

void Evaluator::on_epoch(Trainer& trainer) {
  if (trainer.epoch() % every_ != 0 && trainer.epoch() != trainer.options().epochs) return;
  trainer.set_evaluation(evaluate(trainer.updater().network(), data_, options_));
}

}  // namespace kaiseki::nn
