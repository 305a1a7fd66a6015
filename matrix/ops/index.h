// SPDX-License-Identifier: MIT
// Elements by index, for tensors of any type. Indices are i32 from -n to n-1, where n is the length
// of the axis. A negative index counts from the end. Another index throws ShapeError if the device
// is the CPU, or if the indices are contiguous and on the host. Otherwise take() and gather() give
// 0 for it, and the others skip it.
#pragma once

#include "matrix/tensor.h"

namespace kaiseki {

/// The elements of x at these positions along an axis. The shape of the indices takes the place of
/// the axis: x [a, n, b] and indices [i, j] give [a, i, j, b].
Tensor take(const Tensor& x, const Tensor& indices, int axis);
/// Sets these elements of x. The values must broadcast to the shape of take(x, indices, axis). If
/// an index occurs more than once, the last value stays.
void put(Tensor& x, const Tensor& indices, const Tensor& values, int axis);
/// The same, but adds the values, in the order of the indices. f32, and i32, which wraps.
void add_at(Tensor& x, const Tensor& indices, const Tensor& values, int axis);

/// y[i][j] = x[indices[i][j]][j] for axis 0, and so on for other axes (NumPy's take_along_axis).
/// Except along the axis, the shapes of x and indices agree.
Tensor gather(const Tensor& x, const Tensor& indices, int axis);
/// x[indices[i][j]][j] = values[i][j] for axis 0. The values must broadcast to the shape of the
/// indices. If an index occurs more than once in a column, the last value stays.
void scatter(Tensor& x, const Tensor& indices, const Tensor& values, int axis);
/// The same, but adds the values, in the order of the indices. f32, and i32, which wraps.
void scatter_add(Tensor& x, const Tensor& indices, const Tensor& values, int axis);

/// The positions of the elements that are not 0, row-major: i32 [count, rank]. A NaN is not 0.
/// Reads x on the host, because the shape of the result depends on its values.
Tensor nonzero(const Tensor& x);
/// x[mask] of NumPy: the elements of x where the mask (bool) is true. The shape of the mask is that
/// of the first dimensions of x. Gives [count, ...] with the other dimensions. Reads the mask on
/// the host.
Tensor masked_select(const Tensor& x, const Tensor& mask);
/// x[mask] = values of NumPy. The values must broadcast to the shape of masked_select(x, mask).
void masked_put(Tensor& x, const Tensor& mask, const Tensor& values);

}  // namespace kaiseki
