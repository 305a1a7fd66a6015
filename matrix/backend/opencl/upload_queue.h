// SPDX-License-Identifier: MIT
// Copies from the host on a queue of their own, beside the kernels of a GPU. The host writes to
// page-locked memory and goes on. The device fetches the values from there. A copy waits for the
// last kernel that used the block. Later kernels wait for the copy.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

#include "matrix/backend/opencl/api.h"

namespace kaiseki::opencl {

class UploadQueue {
 public:
  /// `kernels`: the in-order queue of the kernels. Throws DeviceError.
  UploadQueue(cl_context context, cl_device_id device, cl_command_queue kernels,
              const std::string& label);
  ~UploadQueue();
  UploadQueue(const UploadQueue&) = delete;

  /// Notes that a command that uses the block was queued just now.
  void used(cl_mem block);
  /// Forgets a block that is released.
  void forget(cl_mem block);
  /// Queues a copy of `bytes` bytes to the block. The host's memory may change afterwards.
  /// Returns the status of the first call that fails. Later kernels wait for what was queued.
  cl_int upload(cl_mem block, const void* host, uint64_t bytes);

 private:
  /// A part of page-locked memory, and the copy that reads it.
  struct PinnedPart {
    cl_mem memory = nullptr;
    uint64_t bytes = 0;
    void* mapped = nullptr;
    cl_event copy = nullptr;
  };
  /// An event of the kernels' queue, after the first `commands` commands.
  struct Mark {
    uint64_t commands;
    cl_event event;
  };

  /// Waits for the last copy. Then the part has room for `bytes` bytes.
  cl_int prepare(PinnedPart& pinned, uint64_t bytes);
  void free(PinnedPart& pinned);
  cl_int mark();
  cl_int copy(cl_mem block, const char* host, uint64_t bytes, cl_event before, cl_event* last);
  /// The first mark after the last use of the block, or nullptr for a block that was never used.
  cl_event mark_after_use(cl_mem block);

  cl_context context_;
  cl_command_queue kernels_, copies_ = nullptr;
  std::mutex upload_mutex_;  // of what upload() alone uses. It may wait for a copy
  std::array<PinnedPart, 8> pinned_;
  size_t next_ = 0;
  std::deque<Mark> marks_;  // oldest first
  std::mutex use_mutex_;
  std::unordered_map<cl_mem, uint64_t> last_use_;
  uint64_t commands_ = 0;
};

}  // namespace kaiseki::opencl
