// SPDX-License-Identifier: MIT
// Buffer: the storage of tensors, with a copy on the host and one on the device. Each copy is valid
// or stale. Reading a stale copy updates it. Writing one copy makes the other stale. Tests count
// the transfers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "matrix/device.h"

namespace kaiseki {

enum class Access { read, read_write, write };  // write: the old contents are discarded

/// Transfers between host and device since the program started.
struct TransferCount {
  uint64_t to_device = 0, to_host = 0;              // number of copies
  uint64_t to_device_bytes = 0, to_host_bytes = 0;  // bytes
};
TransferCount transfer_count();

class Allocator;
struct CopyRegion;

class Buffer {
 public:
  /// Uninitialized. If the device has no room and its tensors can leave it, the buffer starts
  /// outside the device. Throws OutOfMemory.
  Buffer(uint64_t bytes, Device device);
  /// Takes ownership of a block of the device's Allocator::allocate_unused().
  Buffer(uint64_t bytes, Device device, void* unused);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  uint64_t bytes() const { return bytes_; }
  Device device() const { return device_; }

  /// Returns whether the host can read without waiting for the device.
  bool valid_on_host() const { return device_.is_cpu() || host_valid_; }

  /// Returns whether the device can read without a transfer.
  bool valid_on_device() const { return device_.is_cpu() || block_valid_; }

  /// A number that identifies the current contents. It changes whenever the contents may be
  /// written. No other buffer has the same number.
  uint64_t contents() const { return contents_; }

  /// The host copy, aligned to 64 bytes. Waits for the device's work if necessary.
  void* host(Access access);
  /// The device's block: a cl_mem, or on the CPU the host pointer. Throws OutOfMemory if the
  /// contents left the device and it has no room now.
  void* on_device(Access access);

  /// Moves the contents to the device's backing store, or to the host, and releases the block. Does
  /// not wait for the copy if there is a backing store. The next use on the device copies them
  /// back. Does nothing on a CPU without a backing store.
  void leave_device();
  /// Copies the contents back to the device. Does not wait for the copy if there is a backing
  /// store. Throws OutOfMemory.
  void return_to_device();
  /// Returns whether the device has no block for the buffer now. Either leave_device() has released
  /// the block, or there was no room from the start.
  bool left_device() const { return !block_; }
  /// The tensors of a running operation are held, so that none leaves to make room for another.
  bool is_held() const { return holds_.load(std::memory_order_relaxed) != 0; }
  /// Copy a region between the host copy and the block of `piece`, beside the device's kernels. The
  /// buffer must have left its device. The next use of the piece waits for the copy.
  void send_to(Buffer& piece, const CopyRegion& region);
  void receive_from(Buffer& piece, const CopyRegion& region);

 private:
  friend class BufferHold;
  void change();
  void* enter_device(Access access);
  void allocate_host_copy(bool backing);
  void copy_to_host();
  void copy_to_device();

  uint64_t bytes_;
  Device device_;
  void* host_ = nullptr;
  Allocator* host_memory_ = nullptr;  // of host_
  void* block_ = nullptr;
  bool host_valid_ = false, block_valid_ = false, unused_ = false;
  bool copying_ = false;        // a copy of host_ (on a CPU: of the block) may still run
  std::atomic<int> holds_ = 0;  // threads may read a tensor of the CPU at the same time
  std::atomic<uint64_t> contents_;
};

/// Evictors skip the buffer while this exists.
class BufferHold {
 public:
  explicit BufferHold(Buffer& buffer) : buffer_(&buffer) { add(1); }
  ~BufferHold() {
    if (buffer_) add(-1);
  }
  BufferHold(BufferHold&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferHold& operator=(BufferHold&&) = delete;

 private:
  void add(int holds) { buffer_->holds_.fetch_add(holds, std::memory_order_relaxed); }

  Buffer* buffer_;
};

}  // namespace kaiseki
