// SPDX-License-Identifier: MIT
#include "nn/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"

namespace kaiseki::nn {

void Schedule::check() const {
  if (name != "constant" && name != "step" && name != "cosine" && name != "linear")
    throw Error(message("schedule", "expected constant, step, cosine or linear, got '", name, "'"));
  if (!(base > 0 && std::isfinite(base)))
    throw Error(message("schedule", "expected a learning rate above 0, got ", base));
  if (warmup < 0) throw Error(message("schedule", "expected a warm-up of 0 or more, got ", warmup));
  if (name == "step" && period <= 0)
    throw Error(message("schedule", "expected a period above 0 samples, got ", period));
  if (name == "step" && !(gamma > 0 && gamma <= 1))
    throw Error(message("schedule", "expected gamma above 0 and at most 1, got ", gamma));
  if ((name == "cosine" || name == "linear") && total <= 0)
    throw Error(message("schedule", "expected a length above 0 samples, got ", total));
  if (!(minimum >= 0 && minimum <= base))
    throw Error(message("schedule", "expected a minimum from 0 to ", base, ", got ", minimum));
}

double Schedule::at(int64_t first_sample, int64_t samples) const {
  double rate = base;
  if (name == "step") {
    rate *= std::pow(gamma, static_cast<double>(first_sample / period));
  } else if (name == "cosine" || name == "linear") {
    double length = static_cast<double>(std::max<int64_t>(1, total - warmup));
    double t = std::clamp(static_cast<double>(first_sample - warmup) / length, 0.0, 1.0);
    double rest = name == "linear" ? 1 - t : (1 + std::cos(std::numbers::pi * t)) / 2;
    rate = minimum + (base - minimum) * rest;
  }
  if (first_sample < warmup)
    rate *=
        std::min(1.0, static_cast<double>(first_sample + samples) / static_cast<double>(warmup));
  return rate;
}

}  // namespace kaiseki::nn
