// SPDX-License-Identifier: MIT
// Sorting and searching, for tensors of any type. Sorts are stable. A NaN is the last, also in
// descending order.
#pragma once

#include "matrix/tensor.h"

namespace kaiseki {

Tensor sort(const Tensor& x, int axis = -1, bool descending = false);
/// The indices (i32) that sort x: gather(x, argsort(x, axis), axis) equals sort(x, axis).
Tensor argsort(const Tensor& x, int axis = -1, bool descending = false);

struct TopK {
  Tensor values, indices;  // indices: i32
};
/// The k largest or smallest elements along the axis, in order. Throws ShapeError if the axis has
/// fewer than k.
TopK topk(const Tensor& x, int64_t k, int axis = -1, bool largest = true);

/// For each value the index (i32) at which it keeps `sorted` [n] in order. The index is before
/// equal elements. If `right` is set, it is after them. Both have the same type.
Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false);

struct Unique {
  Tensor values;   // [count], sorted
  Tensor first;    // i32 [count]: the first position of each value in the flat x
  Tensor inverse;  // i32, with the shape of x: x = take(values, inverse, 0)
  Tensor counts;   // i32 [count]
};
/// The different elements of x. All NaNs count as one value, as do 0 and -0. Reads the sorted x on
/// the host, because the shape of the result depends on the values.
Unique unique(const Tensor& x);

}  // namespace kaiseki
