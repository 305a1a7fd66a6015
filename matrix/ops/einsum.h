// SPDX-License-Identifier: MIT
// Products of tensors over any axes, through matrix products. f32.
#pragma once

#include <span>
#include <string_view>

#include "matrix/ops/reduce.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Einstein's summation: einsum("bij,bjk->bik", ab) is a batched matrix product. A letter names an
/// axis. Axes with the same letter have the same length, and are walked together. Letters that are
/// not in the result are summed over. Without "->", the result has the letters that occur once, in
/// alphabetical order. "..." stands for any axes, which broadcast: "...ij,jk->...ik". It is first
/// in a result without "->". The tensors are multiplied from left to right. Throws Error for a
/// wrong text, ShapeError for wrong tensors.
Tensor einsum(std::string_view expression, std::span<const Tensor> tensors);

/// Sums the products over the last n axes of a and the first n axes of b.
Tensor tensordot(const Tensor& a, const Tensor& b, int axes = 2);
/// Sums the products over axes_a[i] of a and axes_b[i] of b. The result has the other axes of a,
/// then those of b.
Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& axes_a, const Axes& axes_b);

}  // namespace kaiseki
