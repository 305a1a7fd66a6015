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

#include "matrix/backend/opencl/platform.h"
#include "matrix/backend/opencl/program_cache.h"
#include "matrix/memory/pool.h"

namespace kaiseki::opencl {

/// Which variant of a kernel suits the device: long vectors in one work-item for CPUs, work-groups
/// that share local memory for GPUs.
enum class Style : uint8_t { cpu, gpu };

struct Kernel {
  cl_kernel handle = nullptr;
  size_t work_group_limit = 1;
  bool launched = false;
};

class OpenclDevice : public RawMemory {
 public:
  /// Throws DeviceError when the device cannot make a context.
  OpenclDevice(int index, const DeviceFacts& facts);
  ~OpenclDevice() override;
  OpenclDevice(const OpenclDevice&) = delete;

  int index() const { return index_; }
  const DeviceFacts& facts() const { return facts_; }
  /// "opencl:0 (NVIDIA H100)"
  const std::string& label() const { return label_; }
  Style style() const { return style_; }
  /// For tests: runs the other kind's variants on this device.
  void set_style(Style style) { style_ = style; }
  /// Work-groups that one launch has in its second and in its third dimension at most: NVIDIA's
  /// driver takes no more. Settable for tests.
  size_t most_groups() const { return most_groups_; }
  void set_most_groups(size_t most) { most_groups_ = most; }
  /// Kernels kept; where there are more, the oldest is built anew when it is needed again.
  void set_kernel_limit(size_t most) { kernel_limit_ = most; }
  size_t kernel_count() const { return kernels_.size(); }
  cl_context context() const { return context_; }
  cl_command_queue queue() const { return queue_; }
  /// Held while the arguments of a kernel are set and it is enqueued.
  std::mutex& launch_mutex() { return launch_mutex_; }

  /// The kernel `name` of the program, built on first use; hold launch_mutex(). Throws
  /// DeviceError.
  Kernel& kernel(std::string_view program, Source kind, std::string_view name,
                 const std::string& options);

  /// Makes a call that queues work on `bytes` of buffers. Drivers that find room only now may say
  /// that there is none: the pool's cache is given back and the call made once more, then it throws
  /// OutOfMemory. Any other failure is a DeviceError. When `call` fails, the launch mutex must be
  /// free: a convolution on another thread may need it before its workspace can give way.
  void enqueue(std::string_view name, uint64_t bytes, const std::function<cl_int()>& call);

  /// Runs a first kernel. Throws DeviceError when that fails or computes wrong values.
  void smoke_test();
  void finish();
  void upload(void* block, const void* host, uint64_t bytes);
  void download(void* host, void* block, uint64_t bytes);

  /// Blocks are cl_mem. A block over the device's largest allocation throws DeviceError.
  void* allocate(uint64_t bytes) override;
  void release(void* block) noexcept override;
  /// Where the device is a CPU, the blocks are the host's memory.
  uint64_t available() const override;
  bool commit(void* block, uint64_t bytes) noexcept override;

 private:
  void drop_oldest_kernels();

  int index_;
  DeviceFacts facts_;
  std::string label_;
  Style style_;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::mutex launch_mutex_;
  std::unique_ptr<ProgramCache> programs_;
  std::unordered_map<std::string, Kernel> kernels_;
  std::unordered_map<std::string, std::string> refused_;  // kernels, and why
  std::deque<std::string> kernel_order_;                  // keys of kernels_, the oldest first
  size_t kernel_limit_ = 2048, most_groups_ = 65535;
};

/// The device with this number, made on first use. Throws DeviceError, with the reason.
OpenclDevice& opencl_device(int index);

/// Adds one launch, of a kernel launched for the first time or not, to the process's count.
void count_launch(bool first);

}  // namespace kaiseki::opencl
