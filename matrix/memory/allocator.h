// SPDX-License-Identifier: MIT
// Allocator: the memory of one device. It caches freed blocks and reuses them, whole or divided. A
// budget (KAISEKI_DEVICE_MEMORY) limits any device. The account counts every byte. The workspace of
// convolutions is released if tensors need the memory.
//
// A GPU's blocks are divided only under a budget. A new block then has room for the largest
// tensor so far. Blocks are therefore rarely released, which would wait for the device. If a tensor
// is larger than an eighth of the budget, new blocks are not divided.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "matrix/memory/divided_blocks.h"
#include "matrix/memory/raw_memory.h"

namespace kaiseki {

class Buffer;

/// The memory of one device in bytes.
struct MemoryAccount {
  uint64_t in_use = 0;     // held by tensors
  uint64_t cached = 0;     // freed and cached for reuse
  uint64_t workspace = 0;  // reserved for convolutions
  uint64_t peak = 0;       // highest sum of the three above
  uint64_t budget = 0;     // 0: no limit except the device's own
};

/// The bytes of tensors that can leave.
struct IdleBytes {
  uint64_t on_device = 0;
  uint64_t all = 0;  // including tensors that left
};
/// The bytes of each buffer.
using IdleBuffers = std::map<const Buffer*, IdleBytes>;

/// Moves tensors from a device to the host if other tensors have no room.
class Evictor {
 public:
  virtual ~Evictor() = default;
  /// Releases blocks of at least this many bytes if it can. Returns false if it released none.
  virtual bool evict(uint64_t bytes) = 0;
  /// Adds the buffers that left before, and those that can leave because no operation uses them.
  virtual void add_idle(IdleBuffers&) const {}
};

class Allocator {
 public:
  Allocator(std::string device_name, RawMemory& raw, std::optional<uint64_t> budget);
  ~Allocator();
  Allocator(const Allocator&) = delete;

  /// Returns a block of at least this many bytes, aligned to 64. If the device refuses, allocate()
  /// frees the cache and tries again. Then it releases the workspace and tries again. Then it
  /// asks the thread's evictors. Then it throws OutOfMemory. If there are evictors, a workspace of
  /// up to an eighth of the budget is released only after them. allocate() also releases it if the
  /// device has less available memory than the block needs. That number is an estimate: if nothing
  /// could be released, the device decides.
  void* allocate(uint64_t bytes);
  /// Returns a block for a workspace from memory that is neither in use nor cached. If there is not
  /// enough, returns nullptr.
  void* allocate_unused(uint64_t bytes);
  /// The device's available memory outside all blocks (RawMemory).
  uint64_t available() const;
  /// The size of the block that allocate() returns for this many bytes.
  uint64_t rounded(uint64_t bytes) const;
  /// The same for allocate_unused().
  uint64_t rounded_unused(uint64_t bytes) const;
  /// `bytes` must be the size given to allocate().
  void release(void* block, uint64_t bytes) noexcept;
  /// Returns a block of allocate_unused() to the device.
  void release_unused(void* block, uint64_t bytes) noexcept;

  /// Copies between the host and blocks.
  RawMemory& copies() { return raw_; }
  /// The allocator of RawMemory::backing(), or nullptr.
  Allocator* backing();
  /// Returns whether allocate() needs no evictor for this many bytes. If a release to the driver is
  /// slow, allocate() must not need such a release either.
  bool has_room_for(uint64_t bytes) const;

  /// The evictor serves the allocations of the calling thread. Earlier ones are asked first.
  /// remove_evictor() must not be called while that thread allocates.
  void add_evictor(Evictor& evictor);
  void remove_evictor(Evictor& evictor);

  /// The sum of Evictor::add_idle() over the evictors of this thread. Each buffer counts once.
  IdleBytes idle_bytes() const;

  /// Makes room within the budget for a workspace of this size in place of the present one. Frees
  /// the cache, and lets tensors leave. Returns false if there is no budget, or if the evictors of
  /// this thread do not free enough.
  bool make_room(uint64_t bytes);
  /// Returns whether there are a budget and an evictor of this thread.
  bool can_make_room() const;

  /// Returns all cached blocks to the device.
  void trim();
  /// Frees the cache and releases the workspace.
  void reclaim();
  /// Sets the function that releases the workspace. allocate() and reclaim() call it on any thread.
  /// It frees blocks of allocate_unused() and returns whether there were any.
  void set_release_for_tensors(std::function<bool()> release_for_tensors);
  MemoryAccount account() const;
  /// For tests: from now on, MemoryAccount::peak is the highest sum since this call.
  void reset_peak();
  /// Also forgets the sizes of earlier tensors. They determine how blocks are divided.
  void set_budget(std::optional<uint64_t> bytes);

 private:
  bool discards() const;
  bool has_large_blocks() const;
  bool divides(uint64_t bytes) const;
  uint64_t aligned(uint64_t bytes) const;
  uint64_t rounded_locked(uint64_t bytes) const;
  bool within_budget(uint64_t bytes) const;
  bool has_room(uint64_t bytes, bool estimate) const;
  uint64_t block_size(uint64_t part);
  bool add_block(uint64_t part);
  void* take_cached(uint64_t size, bool idle);
  void* take_whole(uint64_t size, bool estimate);
  void* take_part(uint64_t size, bool estimate);
  void* take_locked(uint64_t size, bool estimate);
  void* allocate_locked(uint64_t bytes, bool estimate = true);
  void put_whole(void* block, uint64_t size) noexcept;
  std::vector<Evictor*> evictors_of_thread() const;
  bool evict(uint64_t bytes);
  bool can_make_room_locked() const;
  void trim_locked();
  void trim_locked(uint64_t size);
  void release_blocks_for(uint64_t size);
  bool release_largest();
  void count();
  uint64_t held() const { return account_.in_use + account_.cached + account_.workspace; }

  std::string device_name_;
  RawMemory& raw_;
  std::function<bool()> release_for_tensors_;
  std::unique_ptr<Allocator> backing_;
  mutable std::mutex mutex_;
  std::vector<std::pair<std::thread::id, Evictor*>> evictors_;
  std::multimap<uint64_t, void*> free_;         // whole blocks
  uint64_t free_bytes_ = 0, whole_in_use_ = 0;  // bytes of whole blocks
  DividedBlocks divided_;
  bool has_large_tensors_ = false;  // larger than the blocks that would be divided
  uint64_t largest_ = 0;            // bytes of the largest part that needed a large block
  MemoryAccount account_;
};

}  // namespace kaiseki
