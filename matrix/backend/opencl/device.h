// SPDX-License-Identifier: MIT
// One OpenCL device in use: its context, its in-order queue, and the kernels built for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "matrix/backend/opencl/copy_queues.h"
#include "matrix/backend/opencl/platform.h"
#include "matrix/backend/opencl/program_cache.h"
#include "matrix/memory/allocator.h"

namespace kaiseki::opencl {

/// The variant of a kernel that suits the device. CPUs use long vectors in one work-item. GPUs use
/// work-groups that share local memory.
enum class Style : uint8_t { cpu, gpu };

struct Kernel {
  cl_kernel handle = nullptr;
  size_t work_group_limit = 1;
  bool launched = false;
};

class OpenclDevice : public RawMemory {
 public:
  /// Throws DeviceError if the device cannot create a context.
  OpenclDevice(int index, const OpenclDeviceProperties& facts);
  ~OpenclDevice() override;
  OpenclDevice(const OpenclDevice&) = delete;

  int index() const { return index_; }
  const OpenclDeviceProperties& facts() const { return facts_; }
  /// "opencl:0 (NVIDIA H100)"
  const std::string& label() const { return label_; }
  Style style() const { return style_; }
  /// For tests: runs the variants of the other style on this device.
  void set_style(Style style);
  /// The maximum number of work-groups in the second and third dimension of a launch. NVIDIA's
  /// driver takes no more.
  size_t most_groups() const { return most_groups_; }
  /// For tests.
  void set_most_groups(size_t most) { most_groups_ = most; }
  /// For tests: sets the maximum number of cached kernels. Beyond it, the oldest is dropped and
  /// built again on its next use.
  void set_kernel_limit(size_t most) { kernel_limit_ = most; }
  size_t kernel_count() const { return kernels_.size(); }
  cl_context context() const { return context_; }
  cl_command_queue queue() const { return queue_.handle; }
  /// The same queue, for a CommandTimer.
  const TimedQueue& timed_queue() const { return queue_; }
  /// Held while the arguments of a kernel are set and it is enqueued.
  std::mutex& launch_mutex() { return launch_mutex_; }

  /// Returns the kernel `name` of the program, built on first use. The caller must hold
  /// launch_mutex(). Throws DeviceError.
  Kernel& kernel(std::string_view program, Source kind, std::string_view name,
                 const std::string& options);

  /// Makes a call that queues work on `bytes` of buffers. Some drivers report a lack of memory only
  /// here. Then enqueue() frees the allocator's cache and calls again, before it throws
  /// OutOfMemory. It throws DeviceError for any other failure. If `call` fails, the launch mutex
  /// must be free. A convolution on another thread may need the mutex to release its workspace.
  void enqueue(std::string_view name, uint64_t bytes, const std::function<cl_int()>& call);

  /// Notes that a command that uses the block was queued just now. Every command must do so.
  void used(cl_mem block) {
    if (copies_) copies_->used(block);
  }

  /// Runs a test kernel. Throws DeviceError if it fails or computes wrong values.
  void smoke_test();
  /// Waits for all queues. Adds their commands to the timeline and to the busy time.
  void finish();
  /// On GPUs, returns before the copy is done.
  void upload(void* block, const void* host, uint64_t bytes) override;
  void download(void* host, void* block, uint64_t bytes) override;
  RawMemory* backing() override;
  void start_upload(void* block, const void* host, uint64_t bytes) override;
  void start_download(void* host, void* block, uint64_t bytes) override;
  void start_upload(void* block, const void* host, const CopyRegion& region) override;
  void start_download(void* host, void* block, const CopyRegion& region) override;
  void finish_copies(const void* host) override;
  void reuse(void* block) override;

  /// Blocks are cl_mem. Throws DeviceError for a block larger than the device's maximum allocation.
  void* allocate(uint64_t bytes) override;
  void release(void* block) noexcept override;
  /// If the device is a CPU, its blocks are in host memory.
  uint64_t available() const override;
  bool commit(void* block, uint64_t bytes) noexcept override;
  /// On GPUs, parts are sub-buffers. Blocks of CPUs are not divided.
  std::optional<BlockDivision> division() const override;
  void* part(void* block, uint64_t offset, uint64_t bytes) override;
  void release_part(void* part) noexcept override;

 private:
  void drop_oldest_kernels();
  void warn_not_released(cl_int status) const;

  int index_;
  OpenclDeviceProperties facts_;
  std::string label_;
  Style style_;
  cl_context context_ = nullptr;
  std::unique_ptr<CommandTimes> times_;  // if a timeline or the busy time is recorded
  TimedQueue queue_;
  std::mutex launch_mutex_;
  std::unique_ptr<ProgramCache> programs_;
  std::unique_ptr<CopyQueues> copies_;  // of a GPU
  std::unordered_map<std::string, Kernel> kernels_;
  std::unordered_map<std::string, std::string> refused_;  // refused kernels and the reasons
  std::deque<std::string> kernel_order_;                  // keys of kernels_, oldest first
  size_t kernel_limit_ = 2048, most_groups_ = 65535;
};

/// Returns the device with this number, created on first use. Throws DeviceError with the reason.
OpenclDevice& opencl_device(int index);

/// Counts a launch in this process. `first`: the kernel is launched for the first time.
void count_launch(bool first);

}  // namespace kaiseki::opencl
