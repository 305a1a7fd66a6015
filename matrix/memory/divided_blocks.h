// SPDX-License-Identifier: MIT
// DividedBlocks: blocks of raw memory, divided into the requested sizes. Free neighbors are joined
// again, so a tensor can use the room that tensors of other sizes left.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace kaiseki {

class RawMemory;

/// For divisible memory (RawMemory). Not thread-safe.
class DividedBlocks {
 public:
  explicit DividedBlocks(RawMemory& raw) : raw_(raw) {}

  /// Adds a block that is wholly in use.
  void add(void* block, uint64_t bytes);
  /// Returns the start of the smallest cached part that is large enough, or nullptr. The rest of
  /// the part stays cached.
  void* take(uint64_t bytes) { return take_from(cached_parts_, bytes); }
  /// The same, from parts with their memory returned to the system. The system provides it again at
  /// the first write.
  void* take_empty(uint64_t bytes) { return take_from(empty_parts_, bytes); }
  /// Frees a part that is no longer in use.
  void put(void* part) noexcept;
  /// Returns the memory of all free parts to the system. Releases blocks that are wholly free.
  void give_back() noexcept;

  uint64_t cached() const { return cached_; }
  /// Returns whether there are free parts without memory. They still hold addresses.
  bool has_empty() const { return !empty_parts_.empty(); }

 private:
  using Sizes = std::set<std::pair<uint64_t, char*>>;
  enum class State : uint8_t { used, cached, empty };
  struct Part {
    uint64_t size = 0;
    bool first = false;  // the first part of its block
    State state = State::used;
    Sizes::node_type node{};  // kept while the part is in use, so that put() needs no memory
  };
  using ByAddress = std::map<char*, Part>;

  void* take_from(Sizes& sizes, uint64_t bytes);
  /// Inserts the part into the set of `state`.
  void file(ByAddress::iterator part, State state) noexcept;
  void remove_from_set(ByAddress::iterator part) noexcept;
  bool last(ByAddress::iterator part) const;
  /// Appends `part` to the part before it. Neither may be in a set.
  void join(ByAddress::iterator before, ByAddress::iterator part) noexcept;

  RawMemory& raw_;
  ByAddress parts_;
  Sizes cached_parts_, empty_parts_;
  uint64_t cached_ = 0;
};

}  // namespace kaiseki
