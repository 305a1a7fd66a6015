// SPDX-License-Identifier: MIT
// The pictures of one ticket as a blob: bytes where that loses nothing, else floats; or JPEG.
#pragma once

#include <vector>

#include "dist/wire/tensors.h"

namespace kaiseki::dist {

/// What made floats of a picture's bytes: (byte / 255 - mean) / std, for each channel or for all.
struct Normalisation {
  std::vector<float> mean = {}, std = {};  // empty: 0 and 1
};

/// f32 [n, channels, ...]. `jpeg`: pictures may lose by travelling as JPEG (see to_jpeg()), which
/// the MILJS paper does (section 3.3).
ByteVector pack_samples(const Tensor& images, const Normalisation& how, bool jpeg = false);
/// The floats, on the CPU: the same unless they travelled as JPEG. Throws ParseError.
Tensor unpack_samples(ByteView blob);

}  // namespace kaiseki::dist
