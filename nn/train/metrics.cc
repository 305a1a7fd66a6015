// SPDX-License-Identifier: MIT
#include "nn/train/metrics.h"

#include "matrix/ops/elementwise.h"
#include "matrix/ops/reduce.h"

namespace kaiseki::nn {

void Metrics::add(const Tensor& loss, const Tensor& output, const Tensor& labels) {
  const int64_t samples = output.rank() ? output.dim(0) : 1;
  totals_.samples += samples;
  const Tensor flat = loss.reshape({1});
  const Binding weight = {"n", static_cast<float>(samples)};
  if (!loss_sum_.defined() || loss_sum_.device() != loss.device())
    loss_sum_ = Tensor({1}, DType::f32, loss.device());
  if (has_loss_)
    update("s = s + n*l", {{"s", loss_sum_}, weight, {"l", flat}});
  else
    elementwise_into(loss_sum_, "n*l", {weight, {"l", flat}});
  has_loss_ = true;

  if (labels.dtype() != DType::i32 || labels.rank() != 1 || output.rank() != 2) return;
  pending_.push_back({argmax(output, 1), labels.to_vector<int32_t>()});
}

const MetricTotals& Metrics::read() {
  if (has_loss_) totals_.loss_sum += loss_sum_.item();
  has_loss_ = false;
  for (const Pending& batch : pending_) {
    const int32_t* predicted = batch.predictions.data<int32_t>();
    for (size_t i = 0; i < batch.labels.size(); ++i) {
      if (batch.labels[i] < 0) continue;
      ++totals_.classified;
      totals_.correct += predicted[i] == batch.labels[i];
    }
  }
  pending_.clear();
  return totals_;
}

void Metrics::reset(const MetricTotals& totals) {
  totals_ = totals;
  has_loss_ = false;
  pending_.clear();
}

}  // namespace kaiseki::nn
