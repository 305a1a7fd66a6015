// SPDX-License-Identifier: MIT
// Convolution and correlation of signals [n] and pictures [h, w]. f32. For batches, channels,
// strides and gradients see matrix/ops/conv.h.
#pragma once

#include "matrix/tensor.h"

namespace kaiseki {

/// The part of the result. `full` is all of it, [n + m - 1]. `same` is the middle, from (m - 1) / 2
/// of all. `valid` is the part that no element outside a affects, [n - m + 1].
enum class ConvolveMode : uint8_t { full, same, valid };

/// Both have rank 1, or both rank 2. With rank 1, the longer one counts as `a`, as in NumPy: `same`
/// has the length of the longer one. With rank 2, `same` has the shape of `a`, and `valid` requires
/// that `b` fits into `a`. Zeros surround `a`. An infinity or NaN in the shorter one (`b` with rank
/// 2) times these zeros is NaN, unlike in NumPy. Throws ShapeError, also if one has no
/// elements.
Tensor convolve(const Tensor& a, const Tensor& b, ConvolveMode mode = ConvolveMode::full);
/// c[k] = sum over i of a[i + k] * b[i], from k = 1 - m on: NumPy's correlate, with `full` as the
/// default mode.
Tensor correlate(const Tensor& a, const Tensor& b, ConvolveMode mode = ConvolveMode::full);

}  // namespace kaiseki
