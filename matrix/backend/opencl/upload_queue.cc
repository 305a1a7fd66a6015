// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/upload_queue.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "matrix/backend/opencl/status.h"

namespace kaiseki::opencl {
namespace {

constexpr uint64_t kPart = uint64_t{8} << 20, kSmallestPart = 4096;  // bytes
constexpr size_t kMarks = 16;

void release(cl_event& event) {
  if (event) cl().clReleaseEvent(event);
  event = nullptr;
}

}  // namespace

UploadQueue::UploadQueue(cl_context context, cl_device_id device, cl_command_queue kernels,
                         const std::string& label)
    : context_(context), kernels_(kernels) {
  cl_int status = CL_SUCCESS;
  copies_ = cl().clCreateCommandQueue(context, device, 0, &status);
  check(status, "clCreateCommandQueue", label);
}

UploadQueue::~UploadQueue() {
  cl().clFinish(copies_);
  for (Mark& mark : marks_) release(mark.event);
  for (PinnedPart& pinned : pinned_) {
    release(pinned.copy);
    free(pinned);
  }
  cl().clReleaseCommandQueue(copies_);
}

void UploadQueue::used(cl_mem block) {
  std::lock_guard lock(use_mutex_);
  last_use_[block] = ++commands_;
}

void UploadQueue::forget(cl_mem block) {
  std::lock_guard lock(use_mutex_);
  last_use_.erase(block);
}

cl_event UploadQueue::mark_after_use(cl_mem block) {
  std::lock_guard lock(use_mutex_);
  const auto used = last_use_.find(block);
  if (used == last_use_.end()) return nullptr;
  for (const Mark& mark : marks_)
    if (mark.commands >= used->second) return mark.event;
  return marks_.back().event;  // not reached, as no other command uses the block meanwhile
}

void UploadQueue::free(PinnedPart& pinned) {
  if (pinned.mapped)
    cl().clEnqueueUnmapMemObject(copies_, pinned.memory, pinned.mapped, 0, nullptr, nullptr);
  if (pinned.memory) cl().clReleaseMemObject(pinned.memory);
  pinned = {};
}

cl_int UploadQueue::mark() {
  cl_event event = nullptr;
  uint64_t commands = 0;
  {
    std::lock_guard lock(use_mutex_);
    commands = commands_;  // all of these are queued before the mark
  }
  const cl_int status = cl().clEnqueueMarkerWithWaitList(kernels_, 0, nullptr, &event);
  if (status != CL_SUCCESS) return status;
  marks_.push_back({commands, event});
  if (marks_.size() > kMarks) {
    release(marks_.front().event);
    marks_.pop_front();
  }
  return cl().clFlush(kernels_);
}

cl_int UploadQueue::prepare(PinnedPart& pinned, uint64_t bytes) {
  cl_int status = CL_SUCCESS;
  if (pinned.copy) status = cl().clWaitForEvents(1, &pinned.copy);
  release(pinned.copy);
  if (status != CL_SUCCESS || pinned.bytes >= bytes) return status;
  free(pinned);
  const uint64_t room = std::bit_ceil(std::max(bytes, kSmallestPart));
  pinned.memory = cl().clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, room,
                                      nullptr, &status);
  if (status != CL_SUCCESS) return status;
  pinned.mapped =
      cl().clEnqueueMapBuffer(copies_, pinned.memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, room,
                              0, nullptr, nullptr, &status);
  if (status == CL_SUCCESS) pinned.bytes = room;
  return status;
}

cl_int UploadQueue::copy(cl_mem block, const char* host, uint64_t bytes, cl_event before,
                         cl_event* last) {
  for (uint64_t at = 0; at < bytes; at += kPart) {
    PinnedPart& pinned = pinned_[next_++ % pinned_.size()];
    const uint64_t part = std::min(kPart, bytes - at);
    cl_int status = prepare(pinned, part);
    if (status != CL_SUCCESS) return status;
    std::memcpy(pinned.mapped, host + at, part);
    status = cl().clEnqueueWriteBuffer(copies_, block, CL_FALSE, at, part, pinned.mapped,
                                       before ? 1 : 0, before ? &before : nullptr, &pinned.copy);
    if (status != CL_SUCCESS) return status;
    *last = pinned.copy;
    status = cl().clFlush(copies_);
    if (status != CL_SUCCESS) return status;
  }
  return CL_SUCCESS;
}

// The mark is for later copies: they wait for what is queued up to now, and for nothing after it.
cl_int UploadQueue::upload(cl_mem block, const void* host, uint64_t bytes) {
  std::lock_guard lock(upload_mutex_);
  cl_int status = mark();
  if (status != CL_SUCCESS) return status;
  cl_event last = nullptr;
  status = copy(block, static_cast<const char*>(host), bytes, mark_after_use(block), &last);
  if (last) {
    const cl_int waits = cl().clEnqueueBarrierWithWaitList(kernels_, 1, &last, nullptr);
    if (status == CL_SUCCESS) status = waits;
  }
  used(block);
  return status;
}

}  // namespace kaiseki::opencl
