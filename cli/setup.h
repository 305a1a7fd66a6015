// SPDX-License-Identifier: MIT
// What several subcommands share: the device, the network, its weights and the data set.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/options.h"
#include "nn/data/dataset.h"
#include "nn/io/named_tensor.h"
#include "nn/network.h"

namespace kaiseki::cli {

/// Sets the threads and the default device, and gives it.
Device open_device(const DeviceOptions& options);
/// "cpu (Highway AVX3, 2 threads)"
std::string describe_device(Device device);

/// A path stays; a bare name is looked for as NAME, NAME.json, ./models/NAME.json and in the
/// installed models. Throws Error that says where it looked.
std::filesystem::path find_network(const std::string& name);

/// The network's own name, else that of its file.
std::string title(const std::string& name, const std::filesystem::path& file);

/// What goes with weights in their file.
struct WeightsInfo {
  std::vector<std::string> class_names;
  std::vector<float> mean, std;
};
nn::Metadata to_metadata(const WeightsInfo& info);

/// Loads weights, or the best (else the newest) checkpoint of a folder. Throws Error when a
/// tensor of the network is missing or has another shape.
WeightsInfo load_weights_for(const std::string& file, nn::Network& network);
/// Writes weights; .safetensors with the metadata.
void save_weights_of(const std::filesystem::path& file, nn::Network& network,
                     const WeightsInfo& info);

/// The training or the test part for this network: channels and size are those of its input, mean
/// and std those of `options`. Throws Error when the classes do not fit.
std::shared_ptr<const nn::Dataset> open_data(const DataOptions& options, nn::Network& network,
                                             bool train, const std::string& augment = "",
                                             int64_t limit = 0);
/// Channels and size of the network's input. Throws Error unless that is [channels, height, width].
nn::Preprocessing preprocessing_for(const nn::Network& network, const std::vector<float>& mean,
                                    const std::vector<float>& std);

}  // namespace kaiseki::cli
