// SPDX-License-Identifier: MIT
// The commands that used a block, and the downloads that may still read it. Parts of a block
// inherit these from earlier parts at the same bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "matrix/backend/opencl/api.h"

namespace kaiseki::opencl {

/// Releases the event with its last copy.
using SharedEvent = std::shared_ptr<std::remove_pointer_t<cl_event>>;
/// Takes ownership of the caller's reference.
SharedEvent share_event(cl_event event);

struct BlockUse {
  std::optional<uint64_t> last;        // number of the last command that used the block
  std::vector<SharedEvent> downloads;  // not waited for
};

/// Blocks and parts are cl_mem. Not thread-safe.
class BlockUses {
 public:
  /// Adds the block if it is not known. The reference is valid until the block is removed.
  BlockUse& operator[](cl_mem block);
  /// Forgets a block without parts.
  void remove(cl_mem block);

  /// The part inherits the last command and all downloads of earlier parts at its bytes.
  void add_part(cl_mem part, cl_mem block, uint64_t offset, uint64_t bytes);
  /// Keeps the use of the part for later parts at its bytes. Returns false for a block.
  bool remove_part(cl_mem part) noexcept;

  /// For tests: the number of regions that later parts can inherit from.
  size_t regions() const { return regions_.size(); }

 private:
  struct Region {
    uint64_t bytes = 0;
    BlockUse use;
  };
  using Regions = std::map<std::pair<cl_mem, uint64_t>, Region>;  // by block and offset, disjoint

  /// Divides a region that begins before this offset and ends after it.
  void divide(cl_mem block, uint64_t offset);

  std::unordered_map<cl_mem, BlockUse> blocks_;
  std::unordered_map<cl_mem, Regions::node_type> parts_;  // removed from regions_ meanwhile
  Regions regions_;                                       // of earlier parts
};

}  // namespace kaiseki::opencl
