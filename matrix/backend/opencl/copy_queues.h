// SPDX-License-Identifier: MIT
// Copies between the host and a GPU on two queues of their own, beside the kernels. A copy waits
// for the last kernel that used its block. Later kernels wait only for the copies of their blocks.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "matrix/backend/opencl/api.h"
#include "matrix/backend/opencl/block_uses.h"
#include "matrix/backend/opencl/command_times.h"
#include "matrix/backend/opencl/pinned_memory.h"

namespace kaiseki::opencl {

/// Copy a region on a queue, after the given events.
cl_int write_region(const TimedQueue& queue, cl_bool wait, cl_mem block, const void* host,
                    const CopyRegion& region, const std::vector<cl_event>& before, cl_event* done);
cl_int read_region(const TimedQueue& queue, cl_bool wait, cl_mem block, void* host,
                   const CopyRegion& region, const std::vector<cl_event>& before, cl_event* done);

/// Functions that return cl_int give the status of the first call that fails.
class CopyQueues {
 public:
  /// `kernels`: the in-order queue of the kernels. Throws DeviceError.
  CopyQueues(cl_context context, cl_device_id device, const TimedQueue& kernels,
             const std::string& label);
  ~CopyQueues();
  CopyQueues(const CopyQueues&) = delete;

  /// Notes that a command that uses the block was queued just now.
  void used(cl_mem block);
  /// Forgets a block that is released.
  void forget(cl_mem block);
  /// Later kernels wait until the block's contents are on the host. Its owner is another one now.
  cl_int reuse(cl_mem block);
  /// Notes a new part of a block. Later kernels and copies wait for the copies of earlier parts at
  /// the same bytes.
  cl_int add_part(cl_mem part, cl_mem block, uint64_t offset, uint64_t bytes);
  /// Call before the part is released.
  void remove_part(cl_mem part) noexcept;
  /// Waits for all copies.
  cl_int finish();

  /// Queues a copy of `bytes` bytes to the block. The host's memory may change afterwards, because
  /// the values go through page-locked memory. Later kernels wait for the copy.
  cl_int upload(cl_mem block, const void* host, uint64_t bytes);

  /// Memory for the copies below. They read or write it directly, after earlier copies of the same
  /// address.
  PinnedMemory& pinned() { return pinned_; }
  /// Later kernels wait for the copy.
  cl_int start_upload(cl_mem block, const void* host, const CopyRegion& region);
  cl_int start_download(void* host, cl_mem block, const CopyRegion& region);
  cl_int finish_copies(const void* host);

 private:
  /// A part of page-locked memory, and the copy that reads it.
  struct PinnedPart {
    void* memory = nullptr;
    uint64_t bytes = 0;
    cl_event copy = nullptr;
  };
  /// An event of the kernels' queue, after the first `commands` commands.
  struct Mark {
    uint64_t commands;
    cl_event event;
  };

  /// Waits for the last copy. Then the part has room for `bytes` bytes.
  cl_int prepare(PinnedPart& part, uint64_t bytes);
  cl_int mark();
  cl_int copy(cl_mem block, const char* host, uint64_t bytes, cl_event* last);
  /// Makes later kernels wait for a copy to the block.
  cl_int let_kernels_wait(cl_mem block, cl_event copy);
  /// Makes later kernels wait for the block's downloads.
  cl_int let_kernels_wait_for_downloads(cl_mem block);
  /// The first mark after the last use of the block, or none for a block that was never used.
  std::vector<cl_event> after_use(cl_mem block);
  /// The same, and the last copy of the address.
  std::vector<cl_event> after_use(cl_mem block, const void* host);

  cl_command_queue kernels_;
  TimedQueue uploads_, downloads_;
  std::mutex copy_mutex_;  // for members that only copies use; held while a copy waits for another
  std::array<PinnedPart, 8> parts_;
  size_t next_ = 0;
  std::deque<Mark> marks_;                                     // oldest first
  std::unordered_map<const void*, cl_event> copy_of_address_;  // the last one
  std::mutex use_mutex_;
  BlockUses uses_;
  uint64_t commands_ = 0;
  PinnedMemory pinned_;
};

}  // namespace kaiseki::opencl
