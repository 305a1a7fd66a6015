// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/block_uses.h"

#include <algorithm>
#include <iterator>

namespace kaiseki::opencl {

SharedEvent share_event(cl_event event) { return {event, cl().clReleaseEvent}; }

BlockUse& BlockUses::operator[](cl_mem block) {
  const auto part = parts_.find(block);
  return part != parts_.end() ? part->second.mapped().use : blocks_[block];
}

void BlockUses::remove(cl_mem block) {
  blocks_.erase(block);
  regions_.erase(regions_.lower_bound({block, 0}), regions_.upper_bound({block, UINT64_MAX}));
}

void BlockUses::divide(cl_mem block, uint64_t offset) {
  const auto after = regions_.lower_bound({block, offset});
  if (after == regions_.begin()) return;
  const auto before = std::prev(after);
  const auto [owner, start] = before->first;
  Region& region = before->second;
  if (owner != block || start + region.bytes <= offset) return;
  regions_.emplace_hint(after, std::pair(block, offset),
                        Region{start + region.bytes - offset, region.use});
  region.bytes = offset - start;
}

void BlockUses::add_part(cl_mem part, cl_mem block, uint64_t offset, uint64_t bytes) {
  divide(block, offset);
  divide(block, offset + bytes);
  const auto first = regions_.lower_bound({block, offset}),
             last = regions_.lower_bound({block, offset + bytes});
  Region region{bytes, {}};
  for (auto at = first; at != last; ++at) {
    const BlockUse& earlier = at->second.use;
    region.use.last = std::max(region.use.last, earlier.last);
    region.use.downloads.insert(region.use.downloads.end(), earlier.downloads.begin(),
                                earlier.downloads.end());
  }
  Regions one;
  one.emplace(std::pair(block, offset), std::move(region));
  parts_.emplace(part, one.extract(one.begin()));
  regions_.erase(first, last);
}

bool BlockUses::remove_part(cl_mem part) noexcept {
  const auto at = parts_.find(part);
  if (at == parts_.end()) return false;
  regions_.insert(std::move(at->second));
  parts_.erase(at);
  return true;
}

}  // namespace kaiseki::opencl
