// SPDX-License-Identifier: MIT
// Evaluates a network on a data set: loss, top-1, top-5 and confusion matrix.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "nn/data/dataset.h"
#include "nn/network.h"

namespace kaiseki::nn {

struct Evaluation {
  int64_t samples = 0;
  double loss = 0;                 // mean
  double top1 = 0, top5 = 0;       // 0..1; ties: the lower class wins; NaN: no class
  int classes = 0;                 // 0: the output is not [n, classes]
  std::vector<int64_t> confusion;  // [classes, classes]: rows true, columns predicted
  /// Top-1, or minus the loss if there are no classes. Larger is better. The best checkpoint has
  /// the highest score.
  double score() const { return classes ? top1 : -loss; }
};

struct EvaluateOptions {
  int64_t batch_size = 256;
  /// Called between batches with the number of samples so far. May be empty.
  std::function<void(int64_t)> progress{};
};

/// Runs the test phase, in the order of the data set. Throws Error for an empty data set.
Evaluation evaluate(Network& network, std::shared_ptr<const Dataset> data,
                    const EvaluateOptions& options = {});

}  // namespace kaiseki::nn
