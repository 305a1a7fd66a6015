// SPDX-License-Identifier: MIT
#include "matrix/memory/raw_memory.h"

#include "matrix/memory/host.h"

namespace kaiseki {

std::optional<BlockDivision> host_division() {
  if (!can_discard_host()) return {};
  return BlockDivision{.discards = true};
}

void copy_region(void* to, const CopyRegion::RowPlace& to_place, const void* from,
                 const CopyRegion::RowPlace& from_place, const CopyRegion& region) {
  char* out = static_cast<char*>(to) + to_place.first;
  const char* in = static_cast<const char*>(from) + from_place.first;
  for (uint64_t plane = 0; plane < region.planes; ++plane)
    for (uint64_t row = 0; row < region.rows; ++row)
      std::memcpy(out + plane * to_place.plane_pitch + row * to_place.row_pitch,
                  in + plane * from_place.plane_pitch + row * from_place.row_pitch, region.row);
}

void RawMemory::start_upload(void* block, const void* host, const CopyRegion& region) {
  copy_region(block, region.block, host, region.host, region);
}

void RawMemory::start_download(void* host, void* block, const CopyRegion& region) {
  copy_region(host, region.host, block, region.block, region);
}

}  // namespace kaiseki
