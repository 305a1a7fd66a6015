// SPDX-License-Identifier: MIT
// NoiseCap: limits the size of a minibatch to the noise scale of the gradients. The learning rate
// changes with the size.
#pragma once

#include <cstdint>
#include <optional>

#include "nn/train/extension.h"
#include "nn/train/noise_scale.h"
#include "nn/train/rate_scaling.h"

namespace kaiseki::nn {

/// Add it after MinibatchSizeOptimizer, which sets the largest size. The first epoch uses at most
/// the recipe's size, and measures the noise scale up to 20 times. From the second on, a step has
/// at most as many samples as the noise scale. It has at least a quarter of the recipe's size. The
/// learning rate changes with the size, over the second epoch. Do not use it over a pool.
class NoiseCap : public Extension {
 public:
  /// `recipe_size` is the recipe's size of a minibatch.
  explicit NoiseCap(int64_t recipe_size, RateScaling scaling = RateScaling::square_root)
      : recipe_size_(recipe_size), scaling_(scaling) {}
  void on_start(Trainer& trainer) override;
  void on_step(Trainer& trainer) override;
  void save(Metadata& state) const override;
  void restore(const Metadata& state) override;

  const NoiseScale& noise_scale() const { return noise_scale_; }

 private:
  bool measures(Trainer& trainer) const;
  void measure(Trainer& trainer);
  int64_t size_of_epoch(int64_t epoch, int64_t accumulate) const;
  double rate_of(int64_t size) const;
  void apply(Trainer& trainer) const;

  int64_t recipe_size_;
  RateScaling scaling_;
  std::optional<int64_t> largest_;  // empty before on_start()
  int64_t tries_ = 0;               // calls of measure()
  NoiseScale noise_scale_;
};

}  // namespace kaiseki::nn
