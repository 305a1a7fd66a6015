// SPDX-License-Identifier: MIT
// The noise scale of gradients. Minibatches above it hardly reduce the number of steps. They use
// more samples for the same progress.
#pragma once

#include <cstdint>
#include <optional>

namespace kaiseki::nn {

class Updater;

/// The squared norms of the mean gradients of a small and of a large minibatch.
struct GradientNorms {
  int64_t small, large;  // samples
  double small_norm, large_norm;
};

/// Estimates tr(Sigma) / |G|^2: the variance of a sample's gradient over the squared norm of the
/// mean gradient (McCandlish et al. 2018, "An Empirical Model of Large-Batch Training",
/// appendix A.1).
struct NoiseScale {
  double variance = 0, square = 0;  // sums of the estimates of tr(Sigma) and |G|^2

  void add(const GradientNorms& norms);
  /// The noise scale in samples. Nothing if the noise hides the mean gradient, or before add().
  std::optional<double> value() const;
};

/// Computes the gradients of the next minibatch in 8 or more small ones. The large minibatch is
/// their sum. Leaves no trace in the run. The minibatch needs 2 or more samples. Throws
/// RunNotRestored if the run could not be restored.
GradientNorms measure_gradient_norms(Updater& updater);

}  // namespace kaiseki::nn
