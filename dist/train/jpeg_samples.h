// SPDX-License-Identifier: MIT
// Encodes the images of a ticket as JPEG. Internal to dist/train.
#pragma once

#include <optional>

#include "matrix/tensor.h"

namespace kaiseki::dist {

/// The files one after the other, and the size of each in bytes.
struct JpegSamples {
  Tensor files = {}, sizes = {};  // u8 [bytes], i32 [n]
};

/// `pixels`: u8 [n, 3, height, width] on the CPU. Returns nullopt if JPEG does not halve the size.
/// Also returns nullopt if a side has less than 64 pixels: small images would lose too much.
std::optional<JpegSamples> to_jpeg(const Tensor& pixels);
/// Returns the same pixels on every machine. Throws ParseError.
Tensor from_jpeg(const JpegSamples& samples, uint64_t most_bytes = UINT64_MAX);

}  // namespace kaiseki::dist
