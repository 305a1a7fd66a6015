// SPDX-License-Identifier: MIT
// Bytes of pictures to floats.
#pragma once

#include <span>

#include "matrix/tensor.h"

namespace kaiseki {

/// Throws ShapeError if `mean` or `std` has more than one value, but not one for each channel, or
/// if a value of `std` is not above 0.
void check_normalization(std::span<const float> mean, std::span<const float> std, int64_t channels,
                         std::string_view operation);

/// (x / 255 - mean) / std: u8 [n, channels, ...] or [n] to f32 of the same shape. `mean` and `std`
/// have a value for each channel, or one for all, or none for 0 and 1. All devices give the same
/// bits.
Tensor normalize(const Tensor& x, std::span<const float> mean, std::span<const float> std);

}  // namespace kaiseki
