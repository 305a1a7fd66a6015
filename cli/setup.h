// SPDX-License-Identifier: MIT
// The parts that several subcommands share: the device, the network and the data set.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/options.h"
#include "nn/data/dataset.h"
#include "nn/network.h"

namespace kaiseki::cli {

/// Sets the threads, the default device and the convolutions' policy. Returns the device.
Device open_device(const DeviceOptions& options);
/// "cpu (Highway AVX3, 2 threads)"
std::string describe_device(Device device);

/// "in use 3.0 MiB, cached 20.1 MiB, workspace 1.0 MiB, peak 24.1 MiB"
std::string describe_memory(Device device);

/// Returns a path unchanged. Looks for a bare name as NAME, NAME.json, ./models/NAME.json and in
/// the installed models. Throws Error with the places that it tried.
std::filesystem::path find_network(const std::string& name);

/// The network's own name, else its file's name, without control characters.
std::string title(const std::string& name, const std::filesystem::path& file);

/// Opens the training or test part for this network. Channels and size are its input's, mean and
/// std are from `options`. Throws Error if the classes do not fit.
std::shared_ptr<const nn::Dataset> open_data(const DataFlags& options, nn::Network& network,
                                             bool train, const std::string& augment = "none",
                                             int64_t limit = 0);
/// The channels and size of the network's input. Throws Error unless it is [channels, height,
/// width].
nn::Preprocessing preprocessing_for(const nn::Network& network, int resize);
/// Returns `mean`, or the values of the .npy file `mean_image` if it is named. Throws Error if both
/// are given, or if the image has not the shape of the network's input.
std::vector<float> mean_for(const nn::Network& network, const std::vector<float>& mean,
                            const std::string& mean_image);
/// Throws Error unless the numbers fit the network's channels. `mean` may be a mean image.
nn::Normalization normalization_for(const nn::Network& network, const std::vector<float>& mean,
                                    const std::vector<float>& std);

}  // namespace kaiseki::cli
