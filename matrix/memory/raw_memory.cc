// SPDX-License-Identifier: MIT
#include "matrix/memory/raw_memory.h"

#include "matrix/memory/host.h"

namespace kaiseki {

std::optional<BlockDivision> host_division() {
  if (!can_discard_host()) return {};
  return BlockDivision{.discards = true};
}

void RawMemory::start_upload(void* block, const void* host, const CopyRegion& region) {
  region.for_each_row([&](uint64_t in_block, uint64_t on_host) {
    std::memcpy(static_cast<char*>(block) + in_block, static_cast<const char*>(host) + on_host,
                region.row);
  });
}

void RawMemory::start_download(void* host, void* block, const CopyRegion& region) {
  region.for_each_row([&](uint64_t in_block, uint64_t on_host) {
    std::memcpy(static_cast<char*>(host) + on_host, static_cast<const char*>(block) + in_block,
                region.row);
  });
}

}  // namespace kaiseki
