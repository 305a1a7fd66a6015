// SPDX-License-Identifier: MIT
// Workspace: one block of a device's memory that all its convolutions share. It uses memory besides
// the tensors and is released if a tensor needs the memory ("Automatic convolution workspace",
// section 3). Memory that is still free holds transformed filters.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "matrix/memory/derived_cache.h"
#include "matrix/tensor.h"

namespace kaiseki {

class Allocator;

class Workspace {
 public:
  Workspace(Device device, Allocator& allocator);
  Workspace(const Workspace&) = delete;

  /// Limits the block to this many bytes; 0 means no block. Without a value, the workspace is
  /// automatic: grow() chooses a useful size that is free. Releases the current block.
  void set_limit(std::optional<uint64_t> bytes);
  /// Forgets the block and all requests since the start, but keeps the limit. Then takes a block of
  /// this size, like reserve().
  void restart(uint64_t bytes);

  /// Identifies a convolution: the storage of its filter, the filter's offset, and the direction.
  using Caller = std::tuple<const void*, int64_t, int>;
  /// Blocks of these sizes would make this convolution faster.
  void request_sizes(std::span<const uint64_t> bytes, const Caller& caller);
  /// Call when a convolution begins. If this convolution has called request_sizes() before, a whole
  /// iteration (or forward pass) has run since. The allocator then holds all memory of an
  /// iteration, so begin_convolution() calls grow().
  void begin_convolution(const Caller& caller);
  /// Enlarges the block to the largest wanted size that fits. It uses memory that is neither in use
  /// nor cached, and that the system has available now (Allocator::available()). If the device
  /// refuses, it is asked again when tensors need less, or after a hundred calls. Clears the wanted
  /// sizes.
  void grow();
  /// Takes a block of this size now, like grow(). A resumed run then computes as it did before.
  void reserve(uint64_t bytes);

  /// Bytes of the block, or 0 if there is none.
  uint64_t size() const;
  /// Bytes that use() can give now. With a limit, this is the limit. Without a limit, use() may
  /// allocate up to a sixteenth of the device's memory before the iteration ends. If tensors can
  /// leave the device, it may allocate up to an eighth. After a block was released for tensors, it
  /// does so only if tensors can leave.
  uint64_t available() const;
  /// Returns whether the limit allows a block of this size.
  bool allows(uint64_t bytes) const;

  /// Holds the block while one convolution runs. A convolution on another thread waits.
  struct HeldBlock {
    std::unique_lock<std::recursive_mutex> turn;
    Tensor memory;  // u8; undefined if there is not enough memory
  };
  HeldBlock use(uint64_t bytes);
  /// The same for a measurement. If the block is too small, an automatic workspace adds unused
  /// memory and frees it at the end.
  HeldBlock use_for_measurement(uint64_t bytes);

  /// Returns the output of `make` for `source` (DerivedCache::of) if an automatic workspace has
  /// room besides the block. If memory is needed, this output is released before the block. A
  /// convolution on another thread waits.
  HeldBlock use_derived(const Tensor& source, const DerivedCache::Form& form,
                        const DerivedCache::Make& make);
  /// Bytes of the transformed filters.
  uint64_t derived_bytes() const;

 private:
  uint64_t room() const;
  uint64_t room_beside() const;
  bool fits(uint64_t bytes, uint64_t room) const;
  Tensor allocate(uint64_t bytes);
  void make_room(uint64_t bytes);
  struct DeviceLimits {
    uint64_t memory, allocation;  // bytes of the device and of its largest buffer; 0: unknown
  };
  const DeviceLimits& device_limits() const;
  uint64_t device_memory() const;
  bool was_refused(uint64_t bytes, uint64_t held) const;
  bool take(uint64_t bytes, uint64_t room);
  bool release_for_tensors();

  Device device_;
  Allocator& allocator_;
  mutable std::recursive_mutex mutex_;  // held while a convolution uses the block
  std::optional<uint64_t> limit_;
  bool gave_way_ = false;
  mutable std::optional<DeviceLimits> limits_;  // set after the device was queried
  std::optional<uint64_t> refused_{};           // smallest size that the device refused
  uint64_t refused_beside_ = 0;                 // bytes that the allocator held at that time
  uint64_t since_refused_ = 0;                  // calls of grow() since then
  std::optional<uint64_t> in_vain_{};           // smallest size without room after tensors left
  uint64_t since_in_vain_ = 0;                  // calls of grow() since then
  std::set<uint64_t, std::greater<>> wanted_;
  std::set<Caller> callers_;
  Tensor block_;
  DerivedCache derived_;
};

}  // namespace kaiseki
