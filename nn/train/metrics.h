// SPDX-License-Identifier: MIT
// Metrics: mean loss and accuracy over many batches. They are summed on the network's device, so
// adding a batch never waits for the device.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki::nn {

struct MetricTotals {
  int64_t samples = 0;
  double loss_sum = 0;     // of all samples
  int64_t classified = 0;  // samples with a label
  int64_t correct = 0;     // of `classified`
  double loss() const { return samples ? loss_sum / static_cast<double>(samples) : 0; }
  /// 0..1; 0 if there are no classes.
  double accuracy() const {
    return classified ? static_cast<double>(correct) / static_cast<double>(classified) : 0;
  }
  bool operator==(const MetricTotals&) const = default;
};

class Metrics {
 public:
  /// `loss` has one element, the mean over the batch. Accuracy counts if `output` is [n, classes]
  /// and `labels` is i32 [n] on the host. Samples with label -1 are not counted.
  void add(const Tensor& loss, const Tensor& output, const Tensor& labels);
  /// Totals since reset(). Waits for the added batches. If a loss is NaN, loss_sum is NaN.
  const MetricTotals& read();
  /// Restarts from `totals`.
  void reset(const MetricTotals& totals = {});

 private:
  struct Pending {
    Tensor predictions;  // i32 [n]
    std::vector<int32_t> labels;
  };
  MetricTotals totals_;
  Tensor loss_sum_;  // of the batches since the last read()
  bool has_loss_ = false;
  std::vector<Pending> pending_;
};

}  // namespace kaiseki::nn
