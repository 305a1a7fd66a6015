// SPDX-License-Identifier: MIT
// The weights in Sukiyaki's files: Base64 of little-endian float32, {"w", "b", "sha256"} for each
// trained layer. The bias of a convolution has one value for each position of the output. Only
// this library writes the checksum of both. Sukiyaki's own files have none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kaiseki::nn {

/// Throws ParseError if the text is not Base64 of whole floats.
std::vector<float> decode_floats(std::string_view base64, const std::string& source);
std::string encode_floats(const std::vector<float>& values);

/// The SHA-256 of the floats of w, then those of b.
std::string checksum_of(const std::vector<float>& w, const std::vector<float>& b);

/// Reduces `values` to one value for each channel, if all positions of each channel have the same
/// value. Returns true if so, else returns false and changes nothing.
bool bias_per_channel(std::vector<float>& values, size_t channels);

}  // namespace kaiseki::nn
