// SPDX-License-Identifier: MIT
// Buffer: storage of tensors, with a copy on the host and one on its device, each valid or stale.
// Reading a stale side copies; writing one side makes the other stale. Tests count the copies.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "matrix/device.h"

namespace kaiseki {

enum class Access { read, read_write, write };  // write: the old contents are not needed

/// Transfers between host and device since the program started.
struct TransferCount {
  uint64_t to_device = 0, to_host = 0;              // copies
  uint64_t to_device_bytes = 0, to_host_bytes = 0;  // bytes
};
TransferCount transfer_count();

class Buffer {
 public:
  /// Uninitialised. Throws OutOfMemory.
  Buffer(uint64_t bytes, Device device);
  /// Around a block of the device's MemoryPool::allocate_unused().
  Buffer(uint64_t bytes, Device device, void* unused);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  uint64_t bytes() const { return bytes_; }
  Device device() const { return device_; }

  /// Whether the host can read without waiting for the device.
  bool valid_on_host() const { return device_.is_cpu() || host_valid_; }

  /// Stands for what is in it: another number, of no other buffer, whenever somebody may write.
  uint64_t contents() const { return contents_; }

  /// The host's copy, aligned to 64 bytes. Waits for the device's work where that is needed.
  void* host(Access access);
  /// The device's block (a cl_mem; on the CPU the host's pointer).
  void* on_device(Access access);

 private:
  void change();

  uint64_t bytes_;
  Device device_;
  void* host_ = nullptr;
  void* block_ = nullptr;
  bool host_valid_ = false, block_valid_ = false, unused_ = false;
  std::atomic<uint64_t> contents_;
};

}  // namespace kaiseki
