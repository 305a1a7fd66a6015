// SPDX-License-Identifier: MIT
// The signature of the kernels that compute a tile of a matrix product.
#pragma once

#include <cstdint>

namespace kaiseki::cpu {

/// C (rows x vectors * lanes) = beta * C + alpha * A B over k products. Element (i, p) of A is at
/// a[p * a_stride + i]. In the by-rows kernels it is at a[i * a_stride + p]. Row p of B is at b + p
/// * b_stride. Each element is one chain of fused multiply-adds in the order of p, for every tile
/// size. If beta is 0, C is not read. Needs k >= 1.
struct Scale {
  float alpha = 1, beta = 0;
};
using TileFn = void (*)(int64_t k, const float* a, int64_t a_stride, const float* b,
                        int64_t b_stride, const Scale& scale, float* c, int64_t ldc);

}  // namespace kaiseki::cpu
