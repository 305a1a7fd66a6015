// SPDX-License-Identifier: MIT
#include "nn/train/noise_scale.h"

#include <algorithm>
#include <cmath>
#include <exception>

#include "base/error.h"
#include "base/log.h"
#include "nn/train/network_batch.h"
#include "nn/train/run_snapshot.h"
#include "nn/train/updater.h"

namespace kaiseki::nn {
namespace {

constexpr int64_t kSmallMinibatches = 8;

class KeptRun {
 public:
  explicit KeptRun(Updater& updater)
      : updater_(updater), batch_size_(updater.iterator().batch_size()) {
    before_.keep(updater);
  }
  /// Calls restore() if it was not called, as after an exception. If restore() fails, logs its
  /// error. The next step of the run then throws RunNotRestored.
  ~KeptRun() {
    if (restored_) return;
    try {
      restore();
    } catch (const std::exception& error) {
      log_warning(error.what());
    }
  }
  KeptRun(const KeptRun&) = delete;

  /// Throws RunNotRestored.
  void restore() {
    before_.restore(updater_);
    updater_.iterator().set_batch_size(batch_size_);
    restored_ = true;
  }

 private:
  Updater& updater_;
  int64_t batch_size_;
  RunSnapshot before_;
  bool restored_ = false;
};

void add_gradient(Updater& updater) {
  Batch batch;
  if (!next_batch(updater.iterator(), updater.network(), batch))
    throw Error(message("noise scale", "expected an iterator that repeats, got its end"));
  Network& network = updater.network();
  network.forward_loss(inputs_of(batch, network), batch.labels, Phase::train);
  network.backward();
}

/// The squared norm of the mean of `count` gradients, whose sum the network has.
double norm_of_mean(Network& network, int64_t count) {
  const auto divisor = static_cast<double>(count);
  return static_cast<double>(squared_norm(network.gradients()).item()) / (divisor * divisor);
}

}  // namespace

void NoiseScale::add(const GradientNorms& norms) {
  if (!std::isfinite(norms.small_norm) || !std::isfinite(norms.large_norm)) return;
  const auto small = static_cast<double>(norms.small), large = static_cast<double>(norms.large);
  square += (large * norms.large_norm - small * norms.small_norm) / (large - small);
  variance += (norms.small_norm - norms.large_norm) / (1 / small - 1 / large);
}

std::optional<double> NoiseScale::value() const {
  if (square <= 0) return {};
  return std::max(0.0, variance) / square;
}

GradientNorms measure_gradient_norms(Updater& updater) {
  const int64_t batch_size = updater.iterator().batch_size();
  require(batch_size >= 2, "noise scale", "expected a minibatch of 2 or more samples, got ",
          batch_size);
  const int64_t count =
      std::clamp(std::max(kSmallMinibatches, updater.parts()), int64_t{2}, batch_size);
  GradientNorms norms{.small = batch_size / count,
                      .large = batch_size / count * count,
                      .small_norm = 0,
                      .large_norm = 0};
  KeptRun kept(updater);
  updater.iterator().set_batch_size(norms.small);
  updater.network().zero_grad();
  add_gradient(updater);
  norms.small_norm = norm_of_mean(updater.network(), 1);
  for (int64_t i = 1; i < count; ++i) add_gradient(updater);
  norms.large_norm = norm_of_mean(updater.network(), count);
  kept.restore();
  return norms;
}

}  // namespace kaiseki::nn
