// SPDX-License-Identifier: MIT
// Schedule: the learning rate of each minibatch. It counts samples, so a change of the minibatch
// size does not change it.
#pragma once

#include <cstdint>
#include <string>

namespace kaiseki::nn {

/// The rate of a minibatch whose first sample has number s, by name:
///  constant: base;
///  step: base * gamma^(s / period), with a whole quotient;
///  cosine: from base at s = warmup to `minimum` at s = total, along half a cosine (Loshchilov,
///          Hutter 2017, no restarts);
///  linear: from base to `minimum` along a line.
/// If s < warmup, the rate is multiplied by (s + samples of the minibatch) / warmup, at most 1
/// (Goyal et al. 2017, section 2.2).
struct Schedule {
  std::string name = "constant";
  double base = 0.01;
  int64_t warmup = 0;  // in samples, like total and period
  int64_t total = 0;   // cosine, linear: from this sample on the rate is `minimum`
  int64_t period = 0;  // step
  double gamma = 0.1;  // step
  double minimum = 0;  // cosine, linear

  /// Throws Error for an unknown name or values out of range.
  void check() const;
  /// Samples count from 0.
  double at(int64_t first_sample, int64_t samples) const;
};

}  // namespace kaiseki::nn
