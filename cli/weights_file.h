// SPDX-License-Identifier: MIT
// Files of weights with their metadata.
#pragma once

#include <filesystem>
#include <string>

#include "cli/weights_info.h"
#include "nn/network.h"
#include "nn/weights.h"

namespace kaiseki::cli {

/// Loads weights from a file, or from a folder's best (else newest) checkpoint. Without a name,
/// uses the network's own file. Throws Error if a tensor of the network is missing or has another
/// shape. With `report`, such tensors are reported there. Then only a file without any fitting
/// tensor is an error.
WeightsInfo load_weights_for(const std::string& name, nn::Network& network,
                             nn::LoadReport* report = nullptr);

/// Throws Error if a value that the network computed is NaN or infinite. Names the weights that
/// are. `what` is the input.
void expect_finite(double value, const std::string& what, nn::Network& network);

/// Checks before training that save_weights_of() can write this network to this file. Throws Error
/// if not. Warns if the format cannot hold the metadata. `option` is the option that named the
/// file.
void expect_to_save(const std::string& option, const std::filesystem::path& file,
                    nn::Network& network, const WeightsInfo& info);
/// Writes weights. All formats but .json hold the metadata, and .onnx holds the network too.
void save_weights_of(const std::filesystem::path& file, nn::Network& network,
                     const WeightsInfo& info);

}  // namespace kaiseki::cli
