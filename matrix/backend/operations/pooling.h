// SPDX-License-Identifier: MIT
// Max and average pooling.
#pragma once

#include <array>
#include <cstdint>

#include "matrix/backend/operation.h"
#include "matrix/tensor.h"

namespace kaiseki {

/// Pooling over the last two axes of [N, C, H, W]. Padding never is a maximum.
struct PoolingArgs {
  bool maximum;
  bool count_padding;                        // average: divide by the whole window, with padding
  int64_t planes, in_h, in_w, out_h, out_w;  // planes = N * C
  std::array<int64_t, 2> window, stride, padding;
  const Tensor* x;   // forward
  Tensor* y;         // forward
  Tensor* indices;   // maximum: i32 positions in the plane; forward writes, backward reads
  const Tensor* dy;  // backward
  Tensor* dx;        // backward: overwritten

  /// How the operation is divided (matrix/out_of_core/divide.h).
  template <class Division>
  void divide(Division& into) {
    const Shape in = {planes, in_h * in_w}, out = {planes, out_h * out_w};
    into.cut(planes);
    into.reads(x, in, {0});
    into.writes(y, out, {0});
    into.reads(dy, out, {0});
    into.writes(dx, in, {0});
    if (y)
      into.writes(indices, out, {0});
    else
      into.reads(indices, out, {0});
  }
};

inline constexpr Operation<PoolingArgs> kPoolingForward{"pool2d"};
inline constexpr Operation<PoolingArgs> kPoolingBackward{"pool2d_backward"};

}  // namespace kaiseki
