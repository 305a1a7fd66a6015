// SPDX-License-Identifier: MIT
// Samples for tests of kaiseki fit --pool.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "cli/grid_ticket.h"

namespace kaiseki::test {

/// Three classes that overlap, in two features.
inline cli::GridSamples iris_like() {
  constexpr int kSamples = 61, kClasses = 3;
  std::vector<float> x;
  std::vector<int32_t> y;
  for (int i = 0; i < kSamples; ++i) {
    y.push_back(i % kClasses);
    const double angle = 2.1 * y.back(), noise = 1.7 * i * i;
    x.push_back(static_cast<float>(std::cos(angle) + 0.8 * std::sin(noise)));
    x.push_back(static_cast<float>(std::sin(angle) + 0.8 * std::cos(1.3 * noise)));
  }
  return {Tensor::from(std::span<const float>(x), {kSamples, 2}, Device::cpu()),
          Tensor::from(std::span<const int32_t>(y), {kSamples}, Device::cpu())};
}

}  // namespace kaiseki::test
