// SPDX-License-Identifier: MIT
// Parts: blocks of raw memory cut to the sizes that are asked for, and joined again when neighbours
// are free. What a network needs at one time then fits what another size has left.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace kaiseki {

class RawMemory;

/// Not thread-safe. Of memory that is divisible (RawMemory).
class Parts {
 public:
  explicit Parts(RawMemory& raw) : raw_(raw) {}

  /// Takes in a block that is in use, whole.
  void add(void* block, uint64_t bytes);
  /// The start of the smallest cached part that is large enough; what it has more stays cached.
  /// nullptr when there is none.
  void* take(uint64_t bytes) { return take_from(cached_parts_, bytes); }
  /// The same of parts whose memory was given back, and comes again when it is written.
  void* take_empty(uint64_t bytes) { return take_from(empty_parts_, bytes); }
  /// A part that is no longer in use.
  void put(void* part) noexcept;
  /// Gives the memory of all free parts back, and that of whole blocks with its addresses.
  void give_back() noexcept;

  uint64_t cached() const { return cached_; }
  /// Whether there are free parts without memory, which still hold addresses.
  bool has_empty() const { return !empty_parts_.empty(); }

 private:
  using Sizes = std::set<std::pair<uint64_t, char*>>;
  enum class State : uint8_t { used, cached, empty };
  struct Part {
    uint64_t size = 0;
    bool first = false;  // of its block
    State state = State::used;
    Sizes::node_type node{};  // while in use: put() then needs no memory
  };
  using ByAddress = std::map<char*, Part>;

  void* take_from(Sizes& sizes, uint64_t bytes);
  /// Into its set, as `state`.
  void file(ByAddress::iterator part, State state) noexcept;
  void unfile(ByAddress::iterator part) noexcept;
  bool last(ByAddress::iterator part) const;
  /// Appends `part` to the one before it; both out of their sets.
  void join(ByAddress::iterator before, ByAddress::iterator part) noexcept;

  RawMemory& raw_;
  ByAddress parts_;
  Sizes cached_parts_, empty_parts_;
  uint64_t cached_ = 0;
};

}  // namespace kaiseki
