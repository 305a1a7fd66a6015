// SPDX-License-Identifier: MIT
// DividedBlocks: blocks of raw memory, divided into the requested sizes. Free neighbors are joined
// again, so a tensor can use the room that tensors of other sizes left.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "matrix/memory/raw_memory.h"

namespace kaiseki {

/// For divisible memory (RawMemory::division()). Not thread-safe.
class DividedBlocks {
 public:
  explicit DividedBlocks(RawMemory& raw) : raw_(raw) {}

  /// Adds a block that is wholly free and has memory.
  void add(void* block, uint64_t bytes);
  /// Returns the smallest cached part that is large enough, or nullptr. The rest of the part stays
  /// cached. The size must be a multiple of the alignment.
  void* take(uint64_t bytes) { return take_from(cached_parts_, bytes, false); }
  /// The same, from parts that no copy uses.
  void* take_idle(uint64_t bytes) { return take_from(cached_parts_, bytes, true); }
  /// The same, from parts with their memory returned to the system. The system provides it again at
  /// the first write.
  void* take_empty(uint64_t bytes) { return take_from(empty_parts_, bytes, false); }
  /// Returns whether this is a part that is in use.
  bool owns(const void* part) const { return used_parts_.contains(part); }
  /// Frees a part that is no longer in use.
  void put(void* part) noexcept;
  /// Releases blocks that are wholly free. If parts can be discarded, also returns the memory of
  /// all other free parts to the system.
  void give_back() noexcept;
  /// Returns at least this many bytes of cached parts to the system, or all of them if they are
  /// fewer. Takes few parts, and those that no copy uses first. For memory that can be
  /// discarded.
  void give_back(uint64_t bytes) noexcept;
  /// Releases the smallest block that is wholly free. Returns false if there is none. For memory
  /// that cannot be discarded.
  bool release_smallest() noexcept;

  /// Bytes of the parts in use.
  uint64_t used() const { return used_; }
  /// Bytes of the free parts that have memory.
  uint64_t cached() const { return cached_; }
  /// Bytes of the blocks that are wholly free and have memory.
  uint64_t free_blocks() const;
  /// Returns whether take() finds a part.
  bool has(uint64_t bytes) const;
  /// Returns whether there are free parts without memory. They still hold addresses.
  bool has_empty() const { return !empty_parts_.empty(); }

 private:
  using Place = std::pair<void*, uint64_t>;  // a block, and an offset in bytes
  using Sizes = std::set<std::pair<uint64_t, Place>>;
  enum class State : uint8_t { used, cached, empty };
  struct Part {
    uint64_t size = 0;
    State state = State::used;
    Sizes::node_type node{};  // kept while the part is in use, so that put() needs no memory
  };
  using ByPlace = std::map<Place, Part>;

  static char* address(const Place& place) {
    return static_cast<char*>(place.first) + place.second;
  }
  void* take_from(Sizes& sizes, uint64_t bytes, bool idle);
  /// Inserts a part that is in no set.
  ByPlace::iterator insert(const Place& place, uint64_t bytes);
  /// Shortens a free part. The rest becomes a part of the same state.
  void split(ByPlace::iterator part, uint64_t bytes);
  /// Inserts the part into the set of `state`.
  void file(ByPlace::iterator part, State state) noexcept;
  void remove_from_set(ByPlace::iterator part) noexcept;
  static bool first(ByPlace::const_iterator part) { return part->first.second == 0; }
  bool last(ByPlace::const_iterator part) const;
  bool is_whole(ByPlace::const_iterator part) const { return first(part) && last(part); }
  void release(ByPlace::iterator whole) noexcept;
  /// The smallest cached part with at least this many bytes, or else the largest.
  ByPlace::iterator part_to_give(uint64_t bytes, bool idle);
  /// Joins neighbors without memory, and releases blocks of one such part.
  void join_empty() noexcept;
  /// Appends `part` to the part before it. Neither may be in a set.
  void join(ByPlace::iterator before, ByPlace::iterator part) noexcept;

  RawMemory& raw_;
  ByPlace parts_;
  std::unordered_map<const void*, ByPlace::iterator> used_parts_;
  Sizes cached_parts_, empty_parts_;
  uint64_t used_ = 0, cached_ = 0;
};

}  // namespace kaiseki
