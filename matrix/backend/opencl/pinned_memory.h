// SPDX-License-Identifier: MIT
// Page-locked memory of the host. A GPU reads and writes it while its kernels run.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>

#include "matrix/backend/opencl/api.h"
#include "matrix/memory/raw_memory.h"

namespace kaiseki::opencl {

/// Blocks are addresses of the host.
class PinnedMemory : public RawMemory {
 public:
  /// `queue` maps the memory. `before_release` is called with an address that will be released.
  PinnedMemory(cl_context context, cl_command_queue queue,
               std::function<void(const void*)> before_release);

  /// KAISEKI_HOST_MEMORY
  std::optional<uint64_t> limit() const override;
  void* allocate(uint64_t bytes) override;
  void release(void* block) noexcept override;
  /// Returns whether this is the address of a block.
  bool holds(const void* address) const;
  /// release() without a call of `before_release`.
  void free(void* block) noexcept;

 private:
  cl_context context_;
  cl_command_queue queue_;
  std::function<void(const void*)> before_release_;
  mutable std::mutex mutex_;
  std::unordered_map<const void*, cl_mem> buffers_;  // by address
};

}  // namespace kaiseki::opencl
