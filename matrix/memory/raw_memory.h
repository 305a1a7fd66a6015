// SPDX-License-Identifier: MIT
// RawMemory: the source of a device's memory. Every backend has one. The device's allocator calls
// it under its lock.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>

namespace kaiseki {

/// How a device's blocks are divided into parts.
struct BlockDivision {
  uint64_t alignment = 1;  // of a part's offset in bytes, a power of two
  /// discard() releases the memory of a part. Otherwise only whole blocks can be released.
  bool discards = false;
  uint64_t largest_block = UINT64_MAX;  // bytes
};

/// Bytes of a block: rows of equal length, in planes.
struct CopyRegion {
  struct RowPlace {
    uint64_t first = 0, row_pitch = 0, plane_pitch = 0;  // bytes
  };
  uint64_t row = 0, rows = 1, planes = 1;  // bytes of a row, and counts
  RowPlace block = {}, host = {};

  uint64_t bytes() const { return row * rows * planes; }
  /// Calls f(offset in the block, offset on the host) for each row.
  template <typename F>
  void for_each_row(const F& f) const {
    for (uint64_t plane = 0; plane < planes; ++plane)
      for (uint64_t i = 0; i < rows; ++i)
        f(block.first + plane * block.plane_pitch + i * block.row_pitch,
          host.first + plane * host.plane_pitch + i * host.row_pitch);
  }
};

class RawMemory {
 public:
  virtual ~RawMemory() = default;
  /// The bytes that may be allocated. Nothing if there is no limit but the device's own.
  virtual std::optional<uint64_t> limit() const { return {}; }
  /// Returns nullptr if the device refuses.
  virtual void* allocate(uint64_t bytes) = 0;
  virtual void release(void* block) noexcept = 0;
  /// Bytes that can be allocated and used now. UINT64_MAX if the device itself refuses larger
  /// requests.
  virtual uint64_t available() const { return UINT64_MAX; }
  /// Makes a block's memory count in available() now. A system may give only addresses, and memory
  /// at the first write. Returns false if the device refuses at this point.
  virtual bool commit(void*, uint64_t) noexcept { return true; }
  /// How blocks are divided into parts. Nothing if they are not divided.
  virtual std::optional<BlockDivision> division() const { return {}; }
  /// Returns a part of a block, to be used like a block. Work on it follows all earlier work on the
  /// same bytes. Returns nullptr if the device refuses. By default, a part is a host address.
  virtual void* part(void* block, uint64_t offset, uint64_t) {
    return static_cast<char*>(block) + offset;
  }
  /// Releases a part. Queued work may still use it.
  virtual void release_part(void*) noexcept {}
  /// Releases the memory of a part, which is a host address.
  virtual void discard(void*, uint64_t) noexcept {}

  /// Copies between the host and a block, after the queued work. Called without the lock. By
  /// default, a block is a host address.
  virtual void upload(void* block, const void* host, uint64_t bytes) {
    std::memcpy(block, host, bytes);
  }
  virtual void download(void* host, void* block, uint64_t bytes) {
    std::memcpy(host, block, bytes);
  }

  /// The backing store: it holds tensors that left the device. On a GPU it is page-locked memory of
  /// the host, and copies run beside kernels. On the CPU it is files. nullptr if there is none.
  virtual RawMemory* backing() { return nullptr; }
  /// Start a copy between a block and a block of backing(). It follows the queued work that uses
  /// the block, and earlier copies of the same block of backing().
  virtual void start_upload(void* block, const void* host, uint64_t bytes) {
    upload(block, host, bytes);
  }
  virtual void start_download(void* host, void* block, uint64_t bytes) {
    download(host, block, bytes);
  }
  /// The same for a part of the blocks. `host` is an address of backing(), or of any memory of the
  /// host. In the second case the copy is done at the end of the call.
  virtual void start_upload(void* block, const void* host, const CopyRegion& region);
  virtual void start_download(void* host, void* block, const CopyRegion& region);
  /// Waits for the copies from and to a block of backing().
  virtual void finish_copies(const void*) {}
  /// Waits for the copies that use the bytes, if the device does not queue work on a block. Throws
  /// the error of a copy to them.
  virtual void finish_copies_of_block(const void*, uint64_t) {}
  /// Whether a copy uses the bytes. The allocator prefers bytes that no copy uses.
  virtual bool is_copied(const void*, uint64_t) const { return false; }
  /// Called before a released block is used again. Queued work then waits for the copies of the
  /// block that were started before.
  virtual void reuse(void*) {}
};

/// The division of allocate_host()'s blocks, if discard_host() has an effect.
std::optional<BlockDivision> host_division();

}  // namespace kaiseki
