// SPDX-License-Identifier: MIT
// Evaluation of a network on a data set: loss, top-1, top-5, confusion matrix; and the extension
// that does it after each epoch.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "nn/data/dataset.h"
#include "nn/network.h"
#include "nn/train/extension.h"

namespace kaiseki::nn {

struct Evaluation {
  int64_t samples = 0;
  double loss = 0;                 // mean
  double top1 = 0, top5 = 0;       // 0..1; ties count for the lower class, NaN for none
  int classes = 0;                 // 0: the output is no [n, classes]
  std::vector<int64_t> confusion;  // [classes, classes]: rows true, columns predicted; no NaN
  /// What checkpoints compare, larger is better: top-1, or minus the loss without classes.
  double score() const { return classes ? top1 : -loss; }
};

struct EvaluateOptions {
  int64_t batch_size = 256;
  /// Called between batches with the samples done. May be empty.
  std::function<void(int64_t)> progress{};
};

/// Test phase, in the data set's order. Throws Error for an empty data set.
Evaluation evaluate(Network& network, std::shared_ptr<const Dataset> data,
                    const EvaluateOptions& options = {});

/// Evaluates after every `every`-th epoch and after the last one; the trainer keeps the result.
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
