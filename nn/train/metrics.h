// SPDX-License-Identifier: MIT
// Metrics: mean loss and accuracy over many batches, summed where the network runs, so that adding
// a batch never waits for the device.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::nn {

struct MetricTotals {
  int64_t samples = 0;
  double loss_sum = 0;     // of all samples
  int64_t classified = 0;  // samples with a class to compare with
  int64_t correct = 0;     // of those
  double loss() const { return samples ? loss_sum / static_cast<double>(samples) : 0; }
  /// 0..1; 0 without classes.
  double accuracy() const {
    return classified ? static_cast<double>(correct) / static_cast<double>(classified) : 0;
  }
  bool operator==(const MetricTotals&) const = default;
};

class Metrics {
 public:
  /// `loss` is one element, the mean over the batch. Accuracy counts when `output` is [n, classes]
  /// and `labels` i32 [n] on the host; a label of -1 counts for nothing.
  void add(const Tensor& loss, const Tensor& output, const Tensor& labels);
  /// Totals since reset(); waits for the batches added. A loss that is not a number stays in
  /// loss_sum.
  const MetricTotals& read();
  /// Starts from `totals`.
  void reset(const MetricTotals& totals = {});

 private:
  struct Pending {
    Tensor predictions;  // i32 [n]
    std::vector<int32_t> labels;
  };
  MetricTotals totals_;
  Tensor loss_sum_;  // of the batches in between reads
  bool has_loss_ = false;
  std::vector<Pending> pending_;
};

}  // namespace kaiseki::nn
