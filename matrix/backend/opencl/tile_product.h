// SPDX-License-Identifier: MIT
// The tiles of matrix products on GPUs: gemm_tiled.cl and conv_implicit_gemm.cl with
// tile_product.cl.
#pragma once

#include <cstdint>
#include <string>

#include "matrix/backend/opencl/device.h"
#include "matrix/ceil_div.h"
#include "matrix/tensor.h"

namespace kaiseki::opencl {

/// A work-group of items_m x items_n items computes m x n elements, `k` terms in a step.
struct ProductTile {
  int m, n, k, items_m, items_n;

  size_t items() const { return static_cast<size_t>(items_m) * items_n; }
  size_t local_bytes(DType type) const { return size_t(2) * k * (m + n + 8) * dtype_size(type); }
};

inline constexpr ProductTile kTile128{128, 128, 8, 16, 16}, kTile64x128{64, 128, 8, 8, 16},
    kTile64{64, 64, 8, 8, 8}, kTile32{32, 32, 16, 8, 8};
/// Has half as many items as kTile128, for factors whose computation needs many registers.
inline constexpr ProductTile kTile128Half{128, 128, 8, 8, 16};

/// Returns whether the device supports the tile's work-group and local memory.
bool has_room(const OpenclDevice& device, const ProductTile& tile, DType type);

/// Defines TILE_M and the others.
std::string tile_options(const ProductTile& tile);

/// The number of tiles of this length along `n` elements.
inline int64_t tile_count(int64_t n, int64_t length) { return ceil_div(n, length); }

/// Returns whether rows of `width` elements consist of whole, aligned vectors of 4. `ld` is the
/// distance of two rows, `stride` of two matrices.
inline bool has_whole_vectors(const Tensor& t, int64_t width, int64_t ld, int64_t stride) {
  return (width | ld | stride | t.offset()) % 4 == 0;
}

}  // namespace kaiseki::opencl
