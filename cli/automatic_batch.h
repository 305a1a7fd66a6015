// SPDX-License-Identifier: MIT
// The option --batch-size auto.
#pragma once

#include <string>

#include "cli/options.h"
#include "nn/train/trainer.h"

namespace kaiseki::cli {

/// --scale-lr: off, sqrt or linear.
std::string rate_scaling_of(const TrainCommand& command);

/// Adds the extensions that choose the minibatch size, and print it.
void add_automatic_batch(nn::Trainer& trainer, const TrainCommand& command);

}  // namespace kaiseki::cli
