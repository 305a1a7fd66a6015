// SPDX-License-Identifier: MIT
// MemoryPool: one for each device. Freed blocks are kept and used again, by size or in parts; a
// budget (KAISEKI_DEVICE_MEMORY) makes any device as small as wanted; the account is honest. What
// is held beside the tensors, a workspace, gives way to them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "matrix/memory/parts.h"

namespace kaiseki {

/// Bytes of one device.
struct MemoryAccount {
  uint64_t in_use = 0;     // held by tensors
  uint64_t cached = 0;     // freed, kept for reuse
  uint64_t workspace = 0;  // set aside for convolutions
  uint64_t peak = 0;       // highest sum of these three since reset_peak()
  uint64_t budget = 0;     // 0: no limit but the device's own
};

/// Where a pool's memory comes from. All functions are called under the pool's lock.
class RawMemory {
 public:
  virtual ~RawMemory() = default;
  /// nullptr when the device refuses.
  virtual void* allocate(uint64_t bytes) = 0;
  virtual void release(void* block) noexcept = 0;
  /// Bytes that could be allocated now and used, where the device would not refuse more.
  virtual uint64_t available() const { return UINT64_MAX; }
  /// Makes the memory of a block count in available() now, not when it is first written: a system
  /// may hand out addresses alone. False when the device refuses it only now.
  virtual bool commit(void*, uint64_t) noexcept { return true; }
  /// Blocks are addresses that may be cut into parts, and discard() takes the memory from a part.
  virtual bool divisible() const { return false; }
  virtual void discard(void*, uint64_t) noexcept {}
};

class MemoryPool {
 public:
  MemoryPool(std::string device_name, RawMemory& raw, std::optional<uint64_t> budget);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;

  /// A block of at least this many bytes, aligned to 64. Throws OutOfMemory, after the cache, and
  /// then what gives way, were given back to the device and the allocation tried once more each.
  /// What gives way does so too where the device would not refuse, but has no more available; if
  /// that was in vain, the device has the last word: what is available is an estimate.
  void* allocate(uint64_t bytes);
  /// The same of memory that is neither in use nor cached, for a workspace; nullptr when there is
  /// not that much.
  void* allocate_unused(uint64_t bytes);
  /// What the device has available beside all blocks (RawMemory).
  uint64_t available() const;
  /// Of a block of so many bytes, when it is allocated.
  uint64_t rounded(uint64_t bytes) const;
  /// `bytes` as at allocation.
  void release(void* block, uint64_t bytes) noexcept;
  /// A block of allocate_unused(), back to the device.
  void release_unused(void* block, uint64_t bytes) noexcept;

  /// Gives all cached blocks back to the device.
  void trim();
  /// Gives back all that can be: the cache, and what gives way.
  void reclaim();
  /// `give_way` gives back blocks of allocate_unused(), and says whether it could; it is called by
  /// allocate() and reclaim(), on any thread.
  void set_give_way(std::function<bool()> give_way);
  MemoryAccount account() const;
  void reset_peak();
  void set_budget(std::optional<uint64_t> bytes);

 private:
  bool divides(uint64_t bytes) const;
  bool within_budget(uint64_t bytes) const;
  bool has_room(uint64_t bytes, bool estimate) const;
  void* take_whole(uint64_t size);
  void* take_locked(uint64_t size, bool estimate);
  void* allocate_locked(uint64_t size, bool estimate = true);
  void trim_locked();
  void count_cached();
  uint64_t held() const { return account_.in_use + account_.cached + account_.workspace; }

  std::string device_name_;
  RawMemory& raw_;
  std::function<bool()> give_way_;
  mutable std::mutex mutex_;
  std::multimap<uint64_t, void*> free_;  // whole blocks
  uint64_t free_bytes_ = 0;              // of those
  Parts parts_;
  MemoryAccount account_;
};

}  // namespace kaiseki
