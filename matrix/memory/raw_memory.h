// SPDX-License-Identifier: MIT
// RawMemory: the source of a device's memory. Every backend has one. The device's allocator calls
// it under its lock.
#pragma once

#include <cstdint>
#include <cstring>

namespace kaiseki {

class RawMemory {
 public:
  virtual ~RawMemory() = default;
  /// Returns nullptr if the device refuses.
  virtual void* allocate(uint64_t bytes) = 0;
  virtual void release(void* block) noexcept = 0;
  /// Bytes that can be allocated and used now. UINT64_MAX if the device itself refuses larger
  /// requests.
  virtual uint64_t available() const { return UINT64_MAX; }
  /// Makes a block's memory count in available() now. A system may give only addresses, and memory
  /// at the first write. Returns false if the device refuses at this point.
  virtual bool commit(void*, uint64_t) noexcept { return true; }
  /// Returns whether blocks are addresses that can be divided into parts. discard() then releases
  /// the memory of a part.
  virtual bool divisible() const { return false; }
  virtual void discard(void*, uint64_t) noexcept {}

  /// Copies between the host and a block, after the queued work. Called without the lock. By
  /// default, a block is a host address.
  virtual void upload(void* block, const void* host, uint64_t bytes) {
    std::memcpy(block, host, bytes);
  }
  virtual void download(void* host, void* block, uint64_t bytes) {
    std::memcpy(host, block, bytes);
  }
};

}  // namespace kaiseki
