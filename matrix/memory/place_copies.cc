// SPDX-License-Identifier: MIT
#include "matrix/memory/place_copies.h"

#include <algorithm>
#include <vector>

namespace kaiseki {
namespace {

constexpr uint64_t kMost = uint64_t{8} << 20;  // bytes of the host's memory

/// Calls f(in_device, in_place) for parts of the region that have at most kMost bytes. in_device is
/// between the device and packed bytes, in_place between packed bytes and the place.
template <typename F>
void for_each_part(const CopyRegion& region, const F& f) {
  const uint64_t length = std::min(region.row, kMost);
  const uint64_t count =
      std::min(region.rows, std::max<uint64_t>(1, kMost / std::max<uint64_t>(1, length)));
  for (uint64_t plane = 0; plane < region.planes; ++plane)
    for (uint64_t row = 0; row < region.rows; row += count)
      for (uint64_t at = 0; at < region.row; at += length) {
        CopyRegion part;
        part.row = std::min(length, region.row - at);
        part.rows = std::min(count, region.rows - row);
        const CopyRegion::RowPlace packed{0, part.row, part.row * part.rows};
        const auto moved = [&](CopyRegion::RowPlace place) {
          place.first += plane * place.plane_pitch + row * place.row_pitch + at;
          return place;
        };
        CopyRegion in_device = part, in_place = part;
        in_device.block = moved(region.block);
        in_device.host = packed;
        in_place.block = packed;
        in_place.host = moved(region.host);
        f(in_device, in_place);
      }
}

std::vector<char> packed_memory(const CopyRegion& region) {
  return std::vector<char>(std::min(region.bytes(), kMost));
}

}  // namespace

void upload_from_place(RawMemory& device, void* block, const SpillPlace& place,
                       const CopyRegion& region) {
  std::vector<char> packed = packed_memory(region);
  for_each_part(region, [&](const CopyRegion& in_device, const CopyRegion& in_place) {
    place.read(packed.data(), in_place);
    device.start_upload(block, packed.data(), in_device);
  });
}

void download_to_place(SpillPlace& place, RawMemory& device, void* block,
                       const CopyRegion& region) {
  std::vector<char> packed = packed_memory(region);
  for_each_part(region, [&](const CopyRegion& in_device, const CopyRegion& in_place) {
    device.start_download(packed.data(), block, in_device);
    place.write(packed.data(), in_place);
  });
}

}  // namespace kaiseki
