// SPDX-License-Identifier: MIT
// Evaluator: the extension that evaluates the network after epochs.
#pragma once

#include <memory>

#include "nn/train/evaluate.h"
#include "nn/train/extension.h"

namespace kaiseki::nn {

/// Evaluates after every `every`-th epoch and after the last one. Trainer::evaluation() returns the
/// result.
class Evaluator : public Extension {
 public:
  Evaluator(std::shared_ptr<const Dataset> data, const EvaluateOptions& options = {},
            int64_t every = 1);
  void on_epoch(Trainer& trainer) override;

 private:
  std::shared_ptr<const Dataset> data_;
  EvaluateOptions options_;
  int64_t every_;
};

}  // namespace kaiseki::nn
