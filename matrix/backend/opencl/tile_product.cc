// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/tile_product.h"

#include "matrix/backend/opencl/launch.h"

namespace kaiseki::opencl {

bool has_room(const OpenclDevice& device, const ProductTile& tile, DType type) {
  return device.facts().max_work_group >= tile.items() &&
         device.facts().local_memory >= tile.local_bytes(type);
}

std::string tile_options(const ProductTile& tile) {
  return define("TILE_M", tile.m) + define("TILE_N", tile.n) + define("TILE_K", tile.k) +
         define("ITEMS_M", tile.items_m) + define("ITEMS_N", tile.items_n);
}

}  // namespace kaiseki::opencl
