// SPDX-License-Identifier: MIT
// Bytes of pictures to floats.
#pragma once

#include <span>

#include "matrix/tensor.h"

namespace kaiseki {

/// `sample` is [channels, ...], or [] for a sample of one value. Throws ShapeError if `mean` or
/// `std` has more than one value, but not one for each channel. A mean image is allowed: `mean` may
/// have one value for each value of the sample. Throws ShapeError if a value of `std` is not above
/// 0.
void check_normalization(std::span<const float> mean, std::span<const float> std,
                         const Shape& sample, std::string_view operation);

/// (x / 255 - mean) / std: u8 [n, channels, ...] or [n] to f32 of the same shape. `mean` and `std`
/// have a value for each channel, or one for all, or none for 0 and 1. `mean` may also be an image:
/// one value for each value of a sample, in its order. Then the division is a product with 1 / std.
/// All devices give the same bits.
Tensor normalize(const Tensor& x, std::span<const float> mean, std::span<const float> std);

}  // namespace kaiseki
