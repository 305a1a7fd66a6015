// SPDX-License-Identifier: MIT
// Packs the images of a ticket into a blob: as bytes if that is exact, else as floats, or as JPEG.
#pragma once

#include <vector>

#include "dist/wire/tensors.h"

namespace kaiseki::dist {

/// The normalization of bytes: (byte / 255 - mean) / std, per channel or for all channels.
struct Normalisation {
  std::vector<float> mean = {}, std = {};  // empty: 0 and 1
};

/// `images`: f32 [n, channels, ...]. `jpeg`: may send lossy JPEG (see to_jpeg()), as in section 3.3
/// of the MILJS paper.
ByteVector pack_samples(const Tensor& images, const Normalisation& how, bool jpeg = false);
/// Returns the floats on the CPU. They are exact except for JPEG. Throws ParseError, also if they
/// would have more than `most_bytes`.
Tensor unpack_samples(ByteView blob, uint64_t most_bytes = UINT64_MAX);

}  // namespace kaiseki::dist
