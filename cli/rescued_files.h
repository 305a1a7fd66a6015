// SPDX-License-Identifier: MIT
// Files that training writes without an option for them: the checkpoint of an interrupted run, and
// the last weights.
#pragma once

#include <filesystem>

#include "cli/weights_info.h"
#include "nn/network.h"
#include "nn/train/trainer.h"

namespace kaiseki::cli {

/// Writes a checkpoint to a new folder NET.checkpoint, -2, -3 and so on in the current folder, else
/// in KAISEKI_STATE_DIR. Returns the file. Throws Error if neither can be written.
std::filesystem::path rescue_checkpoint(const std::filesystem::path& network_file,
                                        nn::Trainer& trainer, const WeightsInfo& info);

/// Writes the weights to KAISEKI_STATE_DIR/weights/NET.safetensors, over those of the run before.
/// Returns the file. Throws Error if it cannot be written.
std::filesystem::path rescue_weights(const std::filesystem::path& network_file,
                                     nn::Network& network, const WeightsInfo& info);

}  // namespace kaiseki::cli
