// SPDX-License-Identifier: MIT
// New tensors of regular values. Tensor::zeros() and Tensor::full() are in matrix/tensor.h, random
// tensors in matrix/ops/random.h. All throw ShapeError.
#pragma once

#include <span>
#include <vector>

#include "matrix/tensor.h"

namespace kaiseki {

Tensor ones(const Shape& shape, DType dtype = DType::f32, Device device = default_device());
/// The shape, type and device of x.
Tensor zeros_like(const Tensor& x);
Tensor ones_like(const Tensor& x);
Tensor full_like(const Tensor& x, double value);

/// start, start + step, ... before stop: [ceil((stop - start) / step)]. f32, f64, i32 or u8.
/// Computed in double, so all devices have the same values.
Tensor arange(double start, double stop, double step = 1, DType dtype = DType::f32,
              Device device = default_device());
/// 0, 1, ... before stop.
Tensor arange(double stop, DType dtype = DType::f32, Device device = default_device());
/// `count` f32 values at equal distances from start to stop, which is the last value if `endpoint`
/// is set.
Tensor linspace(double start, double stop, int64_t count, bool endpoint = true,
                Device device = default_device());

/// [rows, columns] with 1 where column - row = diagonal, else 0.
Tensor eye(int64_t rows, int64_t columns, int64_t diagonal = 0, DType dtype = DType::f32,
           Device device = default_device());
Tensor eye(int64_t n, DType dtype = DType::f32, Device device = default_device());
/// If x is [n], returns the square matrix with x on this diagonal. If x is [rows, columns], returns
/// this diagonal.
Tensor diag(const Tensor& x, int64_t diagonal = 0);
/// [rows, columns] with 1 where column - row <= diagonal, else 0. f32.
Tensor tri(int64_t rows, int64_t columns, int64_t diagonal = 0, Device device = default_device());
/// x [..., rows, columns] with 0 where column - row is less than the diagonal (triu), or greater
/// (tril).
Tensor triu(const Tensor& x, int64_t diagonal = 0);
Tensor tril(const Tensor& x, int64_t diagonal = 0);

/// The coordinates of a grid: result i has the values of axes[i], which are of rank 1. With `ij`
/// the shape is [n0, n1, ...]. With `xy`, the default of NumPy, the first two dimensions are
/// exchanged. The results are views of the axes.
enum class GridOrder : uint8_t { xy, ij };
std::vector<Tensor> meshgrid(std::span<const Tensor> axes, GridOrder order = GridOrder::xy);

/// [..., classes] with 1 at the index (i32 [...]) of each row, else 0. matrix/ops/index.h describes
/// indices out of range.
Tensor one_hot(const Tensor& indices, int64_t classes, DType dtype = DType::f32);

}  // namespace kaiseki
