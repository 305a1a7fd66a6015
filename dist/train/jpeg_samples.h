// SPDX-License-Identifier: MIT
// The pictures of one ticket as JPEG. Inside dist/train.
#pragma once

#include <optional>

#include "matrix/tensor.h"

namespace kaiseki::dist {

/// One file after the other, and the bytes of each.
struct JpegSamples {
  Tensor files = {}, sizes = {};  // u8 [bytes], i32 [n]
};

/// u8 [n, 3, height, width], on the CPU. Nothing where that does not at least halve them, and for
/// pictures of less than 64 pixels a side, which would lose too much.
std::optional<JpegSamples> to_jpeg(const Tensor& pixels);
/// The same pixels on every machine. Throws ParseError.
Tensor from_jpeg(const JpegSamples& samples);

}  // namespace kaiseki::dist
