// SPDX-License-Identifier: MIT
// The option --batch-size auto.
#pragma once

#include <string>

#include "nn/train/rate_scaling.h"
#include "nn/train/trainer.h"

namespace kaiseki::cli {

/// Adds the extensions that choose the minibatch size, and print it. `how` is auto, auto:time,
/// auto:usage or auto:noise.
void add_automatic_batch(nn::Trainer& trainer, const std::string& how, nn::RateScaling scaling);

}  // namespace kaiseki::cli
