// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/device.h"

#include <array>
#include <map>

#include "base/busy_time.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timeline.h"
#include "matrix/backend/opencl/status.h"
#include "matrix/memory/host_room.h"
#include "matrix/opencl.h"

namespace kaiseki {
namespace {

std::atomic<uint64_t> launches, distinct_kernels;

bool has_no_room(cl_int status) {
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_RESOURCES ||
         status == CL_OUT_OF_HOST_MEMORY;
}

}  // namespace

OpenclKernelCount opencl_kernel_count() { return {launches, distinct_kernels}; }

namespace opencl {

void count_launch(bool first) {
  ++launches;
  if (first) ++distinct_kernels;
}

OpenclDevice::OpenclDevice(int index, const OpenclDeviceProperties& facts)
    : index_(index),
      facts_(facts),
      label_("opencl:" + std::to_string(index) + " (" + facts.name + ")"),
      style_(facts.is_cpu ? Style::cpu : Style::gpu) {
  cl_int status = CL_SUCCESS;
  cl_context_properties properties[] = {
      CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(facts_.platform_id), 0};
  context_ = cl().clCreateContext(properties, 1, &facts_.id, nullptr, nullptr, &status);
  check(status, "clCreateContext", label_);
  if (timeline_records() || busy_time_is_measured())
    times_ = std::make_unique<CommandTimes>("opencl:" + std::to_string(index));
  queue_ = {cl().clCreateCommandQueue(context_, facts_.id, queue_properties(times_.get()), &status),
            kKernelRow, times_.get()};
  if (status != CL_SUCCESS) cl().clReleaseContext(context_);
  check(status, "clCreateCommandQueue", label_);
  programs_ = std::make_unique<ProgramCache>(facts_, label_, context_);
  set_style(style_);
}

void OpenclDevice::set_style(Style style) {
  style_ = style;
  if (style != Style::gpu || copies_) return;
  try {
    finish();  // the queues of copies cannot wait for work that was queued before
    copies_ = std::make_unique<CopyQueues>(context_, facts_.id, queue_, label_);
  } catch (const DeviceError& error) {
    log_warning_once(std::string(error.what()) + "; copies wait for the device's kernels");
  }
}

OpenclDevice::~OpenclDevice() {
  for (auto& [key, kernel] : kernels_) cl().clReleaseKernel(kernel.handle);
  programs_.reset();
  copies_.reset();
  cl().clReleaseCommandQueue(queue_.handle);
  cl().clReleaseContext(context_);
}

Kernel& OpenclDevice::kernel(std::string_view program, Source kind, std::string_view name,
                             const std::string& options) {
  std::string key;
  key.reserve(program.size() + name.size() + options.size() + 2);
  key.append(program).append(1, '\n').append(name).append(1, '\n').append(options);
  if (auto found = kernels_.find(key); found != kernels_.end()) return found->second;
  if (auto found = refused_.find(key); found != refused_.end()) throw KernelError(found->second);
  Kernel kernel;
  try {
    cl_program built = programs_->get(program, kind, options);
    cl_int status = CL_SUCCESS;
    kernel.handle = cl().clCreateKernel(built, std::string(name).c_str(), &status);
    if (status != CL_SUCCESS)  // some drivers compile only here
      refuse(status, message("opencl", "clCreateKernel(", name, ") on ", label_, ": ",
                             status_name(status)));
  } catch (const KernelError& error) {  // remembered, because every step asks for it again
    if (refused_.size() < kernel_limit_) refused_.emplace(std::move(key), error.what());
    throw;
  }
  try {
    check(cl().clGetKernelWorkGroupInfo(kernel.handle, facts_.id, CL_KERNEL_WORK_GROUP_SIZE,
                                        sizeof(size_t), &kernel.work_group_limit, nullptr),
          "clGetKernelWorkGroupInfo(" + std::string(name) + ")", label_);
    drop_oldest_kernels();
    kernel_order_.push_back(key);
    return kernels_.emplace(std::move(key), kernel).first->second;
  } catch (...) {
    cl().clReleaseKernel(kernel.handle);
    throw;
  }
}

// The driver keeps a queued kernel alive until it has run.
void OpenclDevice::drop_oldest_kernels() {
  while (!kernel_order_.empty() && kernels_.size() >= kernel_limit_) {
    if (auto oldest = kernels_.find(kernel_order_.front()); oldest != kernels_.end()) {
      cl().clReleaseKernel(oldest->second.handle);
      kernels_.erase(oldest);
    }
    kernel_order_.pop_front();
  }
}

void OpenclDevice::enqueue(std::string_view name, uint64_t bytes,
                           const std::function<cl_int()>& call) {
  cl_int status = call();
  if (status == CL_SUCCESS) return;
  if (has_no_room(status)) {
    Allocator& allocator = Device::opencl(index_).memory();
    allocator.reclaim();
    status = call();
    if (has_no_room(status)) {
      MemoryAccount account = allocator.account();
      throw OutOfMemory(label_, {bytes, account.in_use, account.cached, account.budget},
                        std::string(name) + " said " + status_name(status));
    }
  }
  check(status, name, label_);
}

void OpenclDevice::finish() {
  check(cl().clFinish(queue_.handle), "clFinish", label_);
  if (copies_) check(copies_->finish(), "clFinish", label_);
  if (times_) times_->collect();
}

void OpenclDevice::upload(void* block, const void* host, uint64_t bytes) {
  if (!bytes) return;
  const auto memory = static_cast<cl_mem>(block);
  if (style_ == Style::gpu && copies_) {
    const cl_int status = copies_->upload(memory, host, bytes);
    if (!has_no_room(status)) return check(status, "clEnqueueWriteBuffer", label_);
  }  // without page-locked memory, the kernels' queue copies
  enqueue("clEnqueueWriteBuffer", bytes, [&] {
    CommandTimer timer(queue_, upload_of(bytes));
    return cl().clEnqueueWriteBuffer(queue_.handle, memory, CL_TRUE, 0, bytes, host, 0, nullptr,
                                     timer.event());
  });
}

void OpenclDevice::download(void* host, void* block, uint64_t bytes) {
  if (bytes)
    enqueue("clEnqueueReadBuffer", bytes, [&] {
      CommandTimer timer(queue_, download_of(bytes));
      return cl().clEnqueueReadBuffer(queue_.handle, static_cast<cl_mem>(block), CL_TRUE, 0, bytes,
                                      host, 0, nullptr, timer.event());
    });
}

RawMemory* OpenclDevice::backing() {
  return style_ == Style::gpu && copies_ ? &copies_->pinned() : nullptr;
}

void OpenclDevice::start_upload(void* block, const void* host, uint64_t bytes) {
  start_upload(block, host, CopyRegion{.row = bytes, .block = {}, .host = {}});
}

void OpenclDevice::start_download(void* host, void* block, uint64_t bytes) {
  start_download(host, block, CopyRegion{.row = bytes, .block = {}, .host = {}});
}

void OpenclDevice::start_upload(void* block, const void* host, const CopyRegion& region) {
  if (!region.row) return;
  const auto memory = static_cast<cl_mem>(block);
  enqueue("clEnqueueWriteBuffer", region.row, [&] {
    return copies_ && copies_->pinned().holds(host)
               ? copies_->start_upload(memory, host, region)
               : write_region(queue_, CL_TRUE, memory, host, region, {}, nullptr);
  });
}

void OpenclDevice::start_download(void* host, void* block, const CopyRegion& region) {
  if (!region.row) return;
  const auto memory = static_cast<cl_mem>(block);
  enqueue("clEnqueueReadBuffer", region.row, [&] {
    return copies_ && copies_->pinned().holds(host)
               ? copies_->start_download(host, memory, region)
               : read_region(queue_, CL_TRUE, memory, host, region, {}, nullptr);
  });
}

void OpenclDevice::finish_copies(const void* host) {
  if (copies_) check(copies_->finish_copies(host), "clWaitForEvents", label_);
}

void OpenclDevice::reuse(void* block) {
  if (copies_)
    check(copies_->reuse(static_cast<cl_mem>(block)), "clEnqueueBarrierWithWaitList", label_);
}

void* OpenclDevice::allocate(uint64_t bytes) {
  if (bytes > facts_.max_allocation)
    throw DeviceError(message("opencl", "expected at most ", format_bytes(facts_.max_allocation),
                              " in one buffer (CL_DEVICE_MAX_MEM_ALLOC_SIZE of ", label_, "), got ",
                              format_bytes(bytes)));
  cl_int status = CL_SUCCESS;
  cl_mem block = cl().clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  if (has_no_room(status)) {  // released blocks are free after the work that uses them
    finish();
    block = cl().clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  }
  if (has_no_room(status)) return nullptr;
  check(status, "clCreateBuffer", label_);
  return block;
}

void OpenclDevice::release(void* block) noexcept {
  try {
    if (copies_) copies_->forget(static_cast<cl_mem>(block));
    // The driver frees a block after the queued work that uses it.
    warn_not_released(cl().clReleaseMemObject(static_cast<cl_mem>(block)));
  } catch (...) {  // no memory for the log message
  }
}

void OpenclDevice::warn_not_released(cl_int status) const {
  if (status != CL_SUCCESS)
    log_warning_once(
        message("opencl", "memory of ", label_, " was not released: ", status_name(status)));
}

std::optional<BlockDivision> OpenclDevice::division() const {
  if (style_ != Style::gpu) return {};
  return BlockDivision{.alignment = facts_.part_alignment, .largest_block = facts_.max_allocation};
}

void* OpenclDevice::part(void* block, uint64_t offset, uint64_t bytes) {
  const auto whole = static_cast<cl_mem>(block);
  const cl_buffer_region region{offset, bytes};
  cl_int status = CL_SUCCESS;
  cl_mem part = cl().clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
  if (has_no_room(status)) return nullptr;
  check(status, "clCreateSubBuffer", label_);
  try {
    if (copies_)
      check(copies_->add_part(part, whole, offset, bytes), "clEnqueueBarrierWithWaitList", label_);
  } catch (...) {
    cl().clReleaseMemObject(part);
    throw;
  }
  return part;
}

void OpenclDevice::release_part(void* part) noexcept {
  try {
    if (copies_) copies_->remove_part(static_cast<cl_mem>(part));
    warn_not_released(cl().clReleaseMemObject(static_cast<cl_mem>(part)));
  } catch (...) {  // no memory for the log message
  }
}

uint64_t OpenclDevice::available() const {
  if (!facts_.is_cpu) return RawMemory::available();
  cl().clFinish(queue_.handle);  // queued work may be the first to write to its memory
  return spare_host_memory();
}

bool OpenclDevice::commit(void* block, uint64_t bytes) noexcept {
  if (!facts_.is_cpu) return true;
  const cl_uint zero = 0;
  CommandTimer timer(queue_, {"fill", "fill", bytes});
  const cl_int status = cl().clEnqueueFillBuffer(queue_.handle, static_cast<cl_mem>(block), &zero,
                                                 sizeof zero, 0, bytes, 0, nullptr, timer.event());
  return status == CL_SUCCESS && cl().clFinish(queue_.handle) == CL_SUCCESS;
}

void OpenclDevice::smoke_test() {
  constexpr size_t kCount = 256;
  std::array<float, kCount> values{};
  void* block = allocate(sizeof(values));
  if (!block) throw DeviceError(message("opencl", "no memory for the test kernel on ", label_));
  cl_mem memory = static_cast<cl_mem>(block);
  try {
    std::lock_guard lock(launch_mutex_);
    Kernel& first = kernel("smoke.cl", Source::file, "smoke", "");
    float scale = 2;
    check(cl().clSetKernelArg(first.handle, 0, sizeof(scale), &scale), "clSetKernelArg", label_);
    check(cl().clSetKernelArg(first.handle, 1, sizeof(memory), &memory), "clSetKernelArg", label_);
    size_t global = kCount, local = 16;
    check(cl().clEnqueueNDRangeKernel(queue_.handle, first.handle, 1, nullptr, &global, &local, 0,
                                      nullptr, nullptr),
          "clEnqueueNDRangeKernel", label_);
    check(cl().clEnqueueReadBuffer(queue_.handle, memory, CL_TRUE, 0, sizeof(values), values.data(),
                                   0, nullptr, nullptr),
          "clEnqueueReadBuffer", label_);
  } catch (...) {
    release(block);
    throw;
  }
  release(block);
  for (size_t i = 0; i < kCount; ++i)
    if (values[i] != 2.0f * static_cast<float>(i) + 1)
      throw DeviceError(message("opencl", "the test kernel computed wrong values on ", label_));
}

OpenclDevice& opencl_device(int index) {
  struct Slot {
    std::unique_ptr<OpenclDevice> device;
    std::string problem;
  };
  static std::mutex mutex;
  static auto* slots = new std::map<int, Slot>;
  std::lock_guard lock(mutex);
  const Platforms& found = platforms();
  if (found.devices.empty()) throw DeviceError(found.problem);
  if (index < 0 || index >= static_cast<int>(found.devices.size()))
    throw DeviceError(message("opencl", "expected a device from 0 to ", found.devices.size() - 1,
                              ", got opencl:", index));
  Slot& slot = (*slots)[index];
  if (!slot.problem.empty()) throw DeviceError(slot.problem);
  if (!slot.device) try {
      auto device = std::make_unique<OpenclDevice>(index, found.devices[index]);
      device->smoke_test();
      slot.device = std::move(device);
    } catch (const Error& error) {
      slot.problem = error.what();
      throw;
    }
  return *slot.device;
}

}  // namespace opencl
}  // namespace kaiseki
