// SPDX-License-Identifier: MIT
// Makes the network of one rank, if ranks divide the channels of layers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nn/network_spec.h"

namespace kaiseki::dist {

/// The names of the layers that ranks divide. Without a value: all divisible layers.
using LayerChoice = std::optional<std::set<std::string>>;

struct DividedSpec {
  nn::NetworkSpec spec;                  // of the rank, without weights
  std::map<std::string, int64_t> units;  // for each divided layer: its number of channels
};

/// Convolutions without groups and fully connected layers can be divided. They need at least one
/// output channel for each rank. Elementwise functions, pooling, batch normalization and flatten
/// after them stay divided. All ranks compute every other layer, and the network's output (thesis
/// 002, chapter 3: splitting by output channels).
/// The layers of ChannelLayers exchange channels between divided and other layers.
DividedSpec divide_channels(const nn::NetworkSpec& whole, int rank, int ranks,
                            const LayerChoice& layers = {});

/// The layers that `ranks` ranks can divide.
std::vector<std::string> divisible_layers(const nn::NetworkSpec& whole, int ranks);

}  // namespace kaiseki::dist
