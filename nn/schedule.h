// SPDX-License-Identifier: MIT
// Schedule: the learning rate of each step. Steps count from 0.
#pragma once

#include <cstdint>
#include <string>

namespace kaiseki::nn {

/// The rate of step s, by name:
///  constant: base;
///  step: base * gamma^(s / period), with a whole quotient;
///  cosine: from base at s = warmup to `minimum` at s = total, along half a cosine (Loshchilov,
///          Hutter 2017, no restarts);
///  linear: from base to `minimum` along a line.
/// If s < warmup, the rate is multiplied by (s + 1) / warmup (Goyal et al. 2017, section 2.2).
struct Schedule {
  std::string name = "constant";
  double base = 0.01;
  int64_t warmup = 0;
  int64_t total = 0;   // cosine, linear: after this step the rate stays at `minimum`
  int64_t period = 0;  // step
  double gamma = 0.1;  // step
  double minimum = 0;  // cosine, linear

  /// Throws Error for an unknown name or values out of range.
  void check() const;
  double at(int64_t step) const;
};

}  // namespace kaiseki::nn
