// SPDX-License-Identifier: MIT
// Sukiyaki's weights: Base64 of little-endian float32, {"w", "b"} for each layer that is trained. A
// convolution's bias there has one value for each position of the output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nn/network.h"

namespace kaiseki::nn {

/// Throws ParseError for what is not Base64 of whole floats.
std::vector<float> decode_floats(std::string_view base64, const std::string& source);
std::string encode_floats(const std::vector<float>& values);

/// One value for each channel, when all of a channel's positions have the same; else false, and
/// nothing is changed.
bool bias_per_channel(std::vector<float>& values, size_t channels);

/// The network with its weights in Sukiyaki's format. Throws Error naming the first layer that the
/// format has no word for.
std::string to_sukiyaki(Network& network);

}  // namespace kaiseki::nn
