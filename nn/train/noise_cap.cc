// SPDX-License-Identifier: MIT
#include "nn/train/noise_cap.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/log.h"
#include "nn/train/state_text.h"
#include "nn/train/trainer.h"

namespace kaiseki::nn {
namespace {

constexpr int64_t kMeasurements = 20;
/// The ratio of the recipe's size to the smallest size.
constexpr int64_t kFar = 4;

}  // namespace

void NoiseCap::on_start(Trainer& trainer) {
  if (!trainer.stop_reason().empty() || trainer.epoch() >= trainer.options().epochs) return;
  if (!largest_) largest_ = trainer.updater().iterator().batch_size();
  apply(trainer);
}

void NoiseCap::on_step(Trainer& trainer) {
  if (!largest_) return;
  if (measures(trainer)) measure(trainer);
  apply(trainer);
}

/// Returns whether it is time to measure. The measurements are spread evenly over the first epoch.
/// A measured minibatch does not go beyond the epoch.
bool NoiseCap::measures(Trainer& trainer) const {
  const Iterator& iterator = trainer.updater().iterator();
  const int64_t samples = iterator.dataset().size();
  return trainer.epoch() == 0 && iterator.batch_size() > 1 &&
         iterator.position() * kMeasurements >= tries_ * samples &&
         iterator.position() + iterator.batch_size() <= samples;
}

void NoiseCap::measure(Trainer& trainer) {
  ++tries_;
  try {
    noise_scale_.add(measure_gradient_norms(trainer.updater()));
  } catch (const OutOfMemory& error) {
    trainer.updater().expect_restored();
    log_warning_once(std::string("the noise scale of the gradients is not measured: ") +
                     error.what());
  }
}

int64_t NoiseCap::size_of_epoch(int64_t epoch, int64_t accumulate) const {
  if (epoch == 0) return std::min(*largest_, recipe_size_);
  const std::optional<double> scale = noise_scale_.value();
  if (!scale) return *largest_;
  const double size =
      std::min(*scale / static_cast<double>(accumulate), static_cast<double>(*largest_));
  const int64_t smallest = std::min(*largest_, std::max<int64_t>(1, recipe_size_ / kFar));
  return std::max(static_cast<int64_t>(size), smallest);
}

double NoiseCap::rate_of(int64_t size) const {
  return rate_factor(scaling_, static_cast<double>(size) / static_cast<double>(recipe_size_));
}

void NoiseCap::apply(Trainer& trainer) const {
  Updater& updater = trainer.updater();
  Iterator& iterator = updater.iterator();
  const int64_t first = size_of_epoch(0, updater.accumulate());
  const int64_t size = size_of_epoch(trainer.epoch(), updater.accumulate());
  if (iterator.batch_size() != size) iterator.set_batch_size(size);
  if (scaling_ == RateScaling::none) return;
  const double done = std::clamp(iterator.epoch_detail() - 1, 0.0, 1.0);
  updater.scale_learning_rate(std::lerp(rate_of(first), rate_of(size), done));
}

void NoiseCap::save(Metadata& state) const {
  if (!largest_) return;
  put(state, "noise.largest", *largest_);
  put(state, "noise.tries", tries_);
  put(state, "noise.variance", noise_scale_.variance);
  put(state, "noise.square", noise_scale_.square);
}

void NoiseCap::restore(const Metadata& state) {
  if (!state.contains("noise.largest")) return;
  largest_ = get<int64_t>(state, "noise.largest");
  tries_ = get<int64_t>(state, "noise.tries");
  noise_scale_.variance = get<double>(state, "noise.variance");
  noise_scale_.square = get<double>(state, "noise.square");
}

}  // namespace kaiseki::nn
