// SPDX-License-Identifier: MIT
// Files of weights, and what goes with the weights in them: the classes' names, mean, std and
// resize.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "nn/io/named_tensor.h"
#include "nn/network.h"
#include "nn/weights.h"

namespace kaiseki::cli {

struct WeightsInfo {
  std::vector<std::string> class_names;
  std::vector<float> mean, std;
  int resize = 0;
};
nn::Metadata to_metadata(const WeightsInfo& info);
WeightsInfo from_metadata(const nn::Metadata& metadata);

/// Loads weights, or the best (else the newest) checkpoint of a folder; with no name, those that
/// the network's own file holds. Throws Error when a tensor of the network is missing or has
/// another shape; with `report`, that is told there, and only a file of which nothing fits is an
/// error.
WeightsInfo load_weights_for(const std::string& name, nn::Network& network,
                             nn::LoadReport* report = nullptr);

/// Throws Error when save_weights_of() could not write this network to this file: before training,
/// not after it. Warns of what the format has no place for. `option` named the file.
void expect_to_save(const std::string& option, const std::filesystem::path& file,
                    nn::Network& network, const WeightsInfo& info);
/// Writes weights; all but .json with the metadata, .onnx with the network.
void save_weights_of(const std::filesystem::path& file, nn::Network& network,
                     const WeightsInfo& info);

}  // namespace kaiseki::cli
