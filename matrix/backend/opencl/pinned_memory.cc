// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/pinned_memory.h"

#include <utility>

#include "base/environment.h"

namespace kaiseki::opencl {

PinnedMemory::PinnedMemory(cl_context context, cl_command_queue queue,
                           std::function<void(const void*)> before_release)
    : context_(context), queue_(queue), before_release_(std::move(before_release)) {}

std::optional<uint64_t> PinnedMemory::limit() const { return environment().host_memory; }

void* PinnedMemory::allocate(uint64_t bytes) {
  cl_int status = CL_SUCCESS;
  cl_mem buffer = cl().clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes,
                                      nullptr, &status);
  if (status != CL_SUCCESS) return nullptr;
  void* address = cl().clEnqueueMapBuffer(queue_, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                          bytes, 0, nullptr, nullptr, &status);
  if (status != CL_SUCCESS || !address) {
    cl().clReleaseMemObject(buffer);
    return nullptr;
  }
  std::lock_guard lock(mutex_);
  buffers_[address] = buffer;
  return address;
}

bool PinnedMemory::holds(const void* address) const {
  std::lock_guard lock(mutex_);
  return buffers_.contains(address);
}

void PinnedMemory::release(void* block) noexcept {
  before_release_(block);
  free(block);
}

void PinnedMemory::free(void* block) noexcept {
  std::lock_guard lock(mutex_);
  const auto at = buffers_.find(block);
  cl().clEnqueueUnmapMemObject(queue_, at->second, block, 0, nullptr, nullptr);
  cl().clReleaseMemObject(at->second);
  buffers_.erase(at);
}

}  // namespace kaiseki::opencl
