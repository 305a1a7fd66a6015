// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/copy_queues.h"

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

/// Puts a reference to the event into the map, in place of an earlier event.
template <typename Key>
void remember(std::unordered_map<Key, cl_event>& events, Key key, cl_event event) {
  cl().clRetainEvent(event);
  cl_event& at = events[key];
  release(at);
  at = event;
}

const cl_event* list(const std::vector<cl_event>& events) {
  return events.empty() ? nullptr : events.data();
}

/// Some drivers copy rectangles slowly, so long rows are copied one by one.
constexpr uint64_t kLongRow = uint64_t{64} << 10;  // bytes

uint64_t bytes_of(const CopyRegion& region) { return region.row * region.rows * region.planes; }

bool has_long_rows(const CopyRegion& region) {
  return region.row >= kLongRow || (region.rows == 1 && region.planes == 1);
}

/// Calls copy(position in the block, position on the host, events, event) for each row. The queue
/// is in order, so the first row waits for `before`, and `done` is the event of the last row.
template <typename Copy>
cl_int for_each_row(const CopyRegion& region, const std::vector<cl_event>& before, cl_event* done,
                    const Copy& copy) {
  const auto at = [](const CopyRegion::RowPlace& place, uint64_t plane, uint64_t row) {
    return place.first + plane * place.plane_pitch + row * place.row_pitch;
  };
  for (uint64_t plane = 0; plane < region.planes; ++plane)
    for (uint64_t row = 0; row < region.rows; ++row) {
      const bool first = plane + row == 0;
      const bool last = plane + 1 == region.planes && row + 1 == region.rows;
      const cl_int status = copy(at(region.block, plane, row), at(region.host, plane, row),
                                 first ? before : std::vector<cl_event>(), last ? done : nullptr);
      if (status != CL_SUCCESS) return status;
    }
  return CL_SUCCESS;
}

}  // namespace

cl_int write_region(const TimedQueue& queue, cl_bool wait, cl_mem block, const void* host,
                    const CopyRegion& region, const std::vector<cl_event>& before, cl_event* done) {
  if (has_long_rows(region))
    return for_each_row(
        region, before, done,
        [&](uint64_t to, uint64_t from, const std::vector<cl_event>& events, cl_event* event) {
          CommandTimer timer(queue, upload_of(region.row), event);
          return cl().clEnqueueWriteBuffer(
              queue.handle, block, wait, to, region.row, static_cast<const char*>(host) + from,
              static_cast<cl_uint>(events.size()), list(events), timer.event());
        });
  const size_t to[] = {region.block.first, 0, 0}, from[] = {region.host.first, 0, 0},
               size[] = {region.row, region.rows, region.planes};
  CommandTimer timer(queue, upload_of(bytes_of(region)), done);
  return cl().clEnqueueWriteBufferRect(
      queue.handle, block, wait, to, from, size, region.block.row_pitch, region.block.plane_pitch,
      region.host.row_pitch, region.host.plane_pitch, host, static_cast<cl_uint>(before.size()),
      list(before), timer.event());
}

cl_int read_region(const TimedQueue& queue, cl_bool wait, cl_mem block, void* host,
                   const CopyRegion& region, const std::vector<cl_event>& before, cl_event* done) {
  if (has_long_rows(region))
    return for_each_row(
        region, before, done,
        [&](uint64_t from, uint64_t to, const std::vector<cl_event>& events, cl_event* event) {
          CommandTimer timer(queue, download_of(region.row), event);
          return cl().clEnqueueReadBuffer(
              queue.handle, block, wait, from, region.row, static_cast<char*>(host) + to,
              static_cast<cl_uint>(events.size()), list(events), timer.event());
        });
  const size_t from[] = {region.block.first, 0, 0}, to[] = {region.host.first, 0, 0},
               size[] = {region.row, region.rows, region.planes};
  CommandTimer timer(queue, download_of(bytes_of(region)), done);
  return cl().clEnqueueReadBufferRect(
      queue.handle, block, wait, from, to, size, region.block.row_pitch, region.block.plane_pitch,
      region.host.row_pitch, region.host.plane_pitch, host, static_cast<cl_uint>(before.size()),
      list(before), timer.event());
}

CopyQueues::CopyQueues(cl_context context, cl_device_id device, const TimedQueue& kernels,
                       const std::string& label)
    : kernels_(kernels.handle),
      uploads_{nullptr, "uploads", kernels.times},
      downloads_{nullptr, "downloads", kernels.times},
      pinned_(context, kernels.handle, [this](const void* host) { finish_copies(host); }) {
  cl_int status = CL_SUCCESS;
  const cl_command_queue_properties properties = queue_properties(kernels.times);
  uploads_.handle = cl().clCreateCommandQueue(context, device, properties, &status);
  check(status, "clCreateCommandQueue", label);
  downloads_.handle = cl().clCreateCommandQueue(context, device, properties, &status);
  if (status != CL_SUCCESS) cl().clReleaseCommandQueue(uploads_.handle);
  check(status, "clCreateCommandQueue", label);
}

CopyQueues::~CopyQueues() {
  finish();
  for (Mark& mark : marks_) release(mark.event);
  for (PinnedPart& part : parts_) {
    release(part.copy);
    if (part.memory) pinned_.free(part.memory);
  }
  for (auto& [address, event] : copy_of_address_) release(event);
  cl().clReleaseCommandQueue(uploads_.handle);
  cl().clReleaseCommandQueue(downloads_.handle);
}

void CopyQueues::used(cl_mem block) {
  std::lock_guard lock(use_mutex_);
  uses_[block].last = ++commands_;
}

void CopyQueues::forget(cl_mem block) {
  std::lock_guard lock(use_mutex_);
  uses_.remove(block);
}

cl_int CopyQueues::reuse(cl_mem block) {
  std::lock_guard lock(use_mutex_);
  return let_kernels_wait_for_downloads(block);
}

cl_int CopyQueues::add_part(cl_mem part, cl_mem block, uint64_t offset, uint64_t bytes) {
  std::lock_guard lock(use_mutex_);
  uses_.add_part(part, block, offset, bytes);
  const cl_int status = let_kernels_wait_for_downloads(part);
  if (status != CL_SUCCESS) uses_.remove_part(part);
  return status;
}

void CopyQueues::remove_part(cl_mem part) noexcept {
  std::lock_guard lock(use_mutex_);
  uses_.remove_part(part);
}

cl_int CopyQueues::let_kernels_wait_for_downloads(cl_mem block) {
  BlockUse& use = uses_[block];
  if (use.downloads.empty()) return CL_SUCCESS;
  std::vector<cl_event> events;
  for (const SharedEvent& event : use.downloads) events.push_back(event.get());
  const cl_int status = cl().clEnqueueBarrierWithWaitList(
      kernels_, static_cast<cl_uint>(events.size()), events.data(), nullptr);
  if (status != CL_SUCCESS) return status;
  use.downloads.clear();
  use.last = ++commands_;
  return status;
}

cl_int CopyQueues::finish() {
  const cl_int uploads = cl().clFinish(uploads_.handle),
               downloads = cl().clFinish(downloads_.handle);
  return uploads == CL_SUCCESS ? downloads : uploads;
}

std::vector<cl_event> CopyQueues::after_use(cl_mem block) {
  std::lock_guard lock(use_mutex_);
  const std::optional<uint64_t> last = uses_[block].last;
  if (!last) return {};
  for (const Mark& mark : marks_)
    if (mark.commands >= *last) return {mark.event};
  return {marks_.back().event};  // not reached, as no other command uses the block meanwhile
}

std::vector<cl_event> CopyQueues::after_use(cl_mem block, const void* host) {
  std::vector<cl_event> events = after_use(block);
  if (const auto copy = copy_of_address_.find(host); copy != copy_of_address_.end())
    events.push_back(copy->second);
  return events;
}

cl_int CopyQueues::mark() {
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

cl_int CopyQueues::let_kernels_wait(cl_mem block, cl_event copy) {
  const cl_int status = cl().clEnqueueBarrierWithWaitList(kernels_, 1, &copy, nullptr);
  used(block);
  return status;
}

cl_int CopyQueues::prepare(PinnedPart& part, uint64_t bytes) {
  cl_int status = CL_SUCCESS;
  if (part.copy) status = cl().clWaitForEvents(1, &part.copy);
  release(part.copy);
  if (status != CL_SUCCESS || part.bytes >= bytes) return status;
  if (part.memory) pinned_.free(part.memory);
  part = {};
  const uint64_t room = std::bit_ceil(std::max(bytes, kSmallestPart));
  part.memory = pinned_.allocate(room);
  if (!part.memory) return CL_MEM_OBJECT_ALLOCATION_FAILURE;
  part.bytes = room;
  return CL_SUCCESS;
}

cl_int CopyQueues::copy(cl_mem block, const char* host, uint64_t bytes, cl_event* last) {
  const std::vector<cl_event> before = after_use(block);
  for (uint64_t at = 0; at < bytes; at += kPart) {
    PinnedPart& part = parts_[next_++ % parts_.size()];
    const uint64_t length = std::min(kPart, bytes - at);
    cl_int status = prepare(part, length);
    if (status != CL_SUCCESS) return status;
    std::memcpy(part.memory, host + at, length);
    {
      CommandTimer timer(uploads_, upload_of(length), &part.copy);
      status = cl().clEnqueueWriteBuffer(uploads_.handle, block, CL_FALSE, at, length, part.memory,
                                         static_cast<cl_uint>(before.size()), list(before),
                                         timer.event());
    }
    if (status != CL_SUCCESS) return status;
    *last = part.copy;
    status = cl().clFlush(uploads_.handle);
    if (status != CL_SUCCESS) return status;
  }
  return CL_SUCCESS;
}

// The mark is for later copies. They wait for work that is queued before it, and for no later work.
cl_int CopyQueues::upload(cl_mem block, const void* host, uint64_t bytes) {
  std::lock_guard lock(copy_mutex_);
  cl_int status = mark();
  if (status != CL_SUCCESS) return status;
  cl_event last = nullptr;
  status = copy(block, static_cast<const char*>(host), bytes, &last);
  const cl_int waits = last ? let_kernels_wait(block, last) : CL_SUCCESS;
  return status == CL_SUCCESS ? waits : status;
}

cl_int CopyQueues::start_upload(cl_mem block, const void* host, const CopyRegion& region) {
  std::lock_guard lock(copy_mutex_);
  cl_int status = mark();
  if (status != CL_SUCCESS) return status;
  cl_event done = nullptr;
  status = write_region(uploads_, CL_FALSE, block, host, region, after_use(block, host), &done);
  if (status != CL_SUCCESS) {
    cl().clFinish(uploads_.handle);  // some rows may be queued
    return status;
  }
  remember(copy_of_address_, host, done);
  status = let_kernels_wait(block, done);
  release(done);
  return status == CL_SUCCESS ? cl().clFlush(uploads_.handle) : status;
}

cl_int CopyQueues::start_download(void* host, cl_mem block, const CopyRegion& region) {
  std::lock_guard lock(copy_mutex_);
  cl_int status = mark();
  if (status != CL_SUCCESS) return status;
  cl_event done = nullptr;
  status = read_region(downloads_, CL_FALSE, block, host, region, after_use(block, host), &done);
  if (status != CL_SUCCESS) {
    cl().clFinish(downloads_.handle);  // some rows may be queued
    return status;
  }
  remember(copy_of_address_, static_cast<const void*>(host), done);
  {
    std::lock_guard use_lock(use_mutex_);
    uses_[block].downloads = {share_event(done)};  // the queue is in order
  }
  return cl().clFlush(downloads_.handle);
}

cl_int CopyQueues::finish_copies(const void* host) {
  cl_event event = nullptr;
  {
    std::lock_guard lock(copy_mutex_);
    const auto at = copy_of_address_.find(host);
    if (at == copy_of_address_.end()) return CL_SUCCESS;
    event = at->second;
    copy_of_address_.erase(at);
  }
  const cl_int status = cl().clWaitForEvents(1, &event);
  release(event);
  return status;
}

}  // namespace kaiseki::opencl
