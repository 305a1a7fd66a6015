// SPDX-License-Identifier: MIT
// What several subcommands share: the device, the network and the data set.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/options.h"
#include "nn/data/dataset.h"
#include "nn/network.h"

namespace kaiseki::cli {

/// Sets the threads, the default device and how convolutions are chosen, and gives the device.
Device open_device(const DeviceOptions& options);
/// "cpu (Highway AVX3, 2 threads)"
std::string describe_device(Device device);

/// "in use 3.0 MiB, pooled 20.1 MiB, workspace 1.0 MiB, peak 24.1 MiB"
std::string describe_memory(Device device);

/// A path stays; a bare name is looked for as NAME, NAME.json, ./models/NAME.json and in the
/// installed models. Throws Error that says where it looked.
std::filesystem::path find_network(const std::string& name);

/// The network's own name, else that of its file.
std::string title(const std::string& name, const std::filesystem::path& file);

/// The training or the test part for this network: channels and size are those of its input, mean
/// and std those of `options`. Throws Error when the classes do not fit.
std::shared_ptr<const nn::Dataset> open_data(const DataOptions& options, nn::Network& network,
                                             bool train, const std::string& augment = "",
                                             int64_t limit = 0);
/// Channels and size of the network's input. Throws Error unless that is [channels, height, width].
nn::Preprocessing preprocessing_for(const nn::Network& network, const std::vector<float>& mean,
                                    const std::vector<float>& std, int resize);

}  // namespace kaiseki::cli
