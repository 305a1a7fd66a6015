// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/launch.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"
#include "matrix/backend/opencl/status.h"
#include "matrix/backend/opencl/text.h"
#include "matrix/ceil_div.h"

namespace kaiseki::opencl {
namespace {

constexpr int64_t kLargestInt = std::numeric_limits<int32_t>::max();
constexpr size_t kWorkGroup = 256;

}  // namespace

std::string define(std::string_view name, int64_t value) {
  return joined({" -D", name, "=", std::to_string(value)});
}

Launch::Launch(OpenclDevice& device, std::string_view file, std::string_view kernel,
               std::string options)
    : device_(device), program_(file), kernel_(kernel), options_(std::move(options)) {
  arguments_.reserve(16);
  blocks_.reserve(8);
}

Launch Launch::from_source(OpenclDevice& device, Source kind, std::string_view source,
                           std::string_view kernel, std::string options) {
  Launch launch(device, source, kernel, std::move(options));
  launch.source_ = kind;
  return launch;
}

Launch& Launch::out(Tensor& tensor) {
  bool whole = tensor.bytes() == tensor.buffer().bytes();
  return tensor_argument(tensor, whole ? Access::write : Access::read_write);
}

Launch& Launch::tensor_argument(const Tensor& tensor, Access access) {
  if (static_cast<int64_t>(tensor.buffer().bytes() / dtype_size(tensor.dtype())) > kLargestInt)
    wide_ = true;
  if (tensor.dtype() == DType::f64) f64_ = true;
  memory(static_cast<cl_mem>(tensor.buffer().on_device(access)), tensor.buffer().bytes());
  return arg(static_cast<uint64_t>(tensor.offset()));
}

Launch& Launch::optional(const Tensor* tensor) {
  return tensor ? in(*tensor) : memory(nullptr).arg(uint64_t{0});
}

Launch& Launch::raw(const void* value, size_t bytes) {
  Argument argument{{}, static_cast<uint8_t>(bytes), false};
  std::memcpy(argument.bytes.data(), value, bytes);
  arguments_.push_back(argument);
  return *this;
}

Launch& Launch::number(double value, DType type) {
  switch (type) {
    case DType::f32:
      return arg(static_cast<float>(value));
    case DType::f64:
      return raw(&value, sizeof(value));
    case DType::i32:
      return arg(static_cast<int32_t>(value));
    case DType::u8:
    case DType::boolean:
      break;
  }
  return arg(static_cast<uint8_t>(value));
}

Launch& Launch::index(int64_t value) {
  if (value > kLargestInt || value < -kLargestInt) wide_ = true;
  raw(&value, sizeof(value));
  arguments_.back().is_index = true;
  return *this;
}

void Launch::over(int64_t n) { over(n, 1); }

void Launch::over(int64_t n, int64_t rows) {
  if (n <= 0 || rows <= 0) return;
  PreparedKernel ready = prepare();
  size_t items = static_cast<size_t>(n);
  size_t local = std::min(kWorkGroup, std::bit_ceil(items));
  while (local > ready.kernel->work_group_limit) local /= 2;
  enqueue_parts(ready, {round_up(items, local), static_cast<size_t>(rows), 1}, {local, 1, 1},
                rows == 1 ? 1 : 2);
}

void Launch::over_groups(std::array<size_t, 3> groups, std::array<size_t, 3> local) {
  if (groups[0] == 0 || groups[1] == 0 || groups[2] == 0) return;
  PreparedKernel ready = prepare();
  enqueue_parts(ready, {groups[0] * local[0], groups[1] * local[1], groups[2] * local[2]}, local,
                3);
}

void Launch::over_range(const std::vector<size_t>& global, const std::vector<size_t>& local) {
  for (size_t items : global)
    if (items == 0) return;
  PreparedKernel ready = prepare();
  enqueue(ready, nullptr, global.data(), local.empty() ? nullptr : local.data(),
          static_cast<cl_uint>(global.size()));
}

Kernel& Launch::kernel() {
  if (!f64_ && !wide_) return device_.kernel(program_, source_, kernel_, options_);
  return device_.kernel(program_, source_, kernel_,
                        joined({options_, f64_ ? kF64 : "", wide_ ? " -DINDEX=long" : ""}));
}

void Launch::build() {
  std::lock_guard lock(device_.launch_mutex());
  kernel();
}

Launch::PreparedKernel Launch::prepare() {
  std::unique_lock lock(device_.launch_mutex());
  Kernel& kernel = this->kernel();
  for (cl_uint i = 0; i < arguments_.size(); ++i) {
    const Argument& argument = arguments_[i];
    // Works because host and device are little-endian.
    size_t size = argument.is_index ? (wide_ ? 8 : 4) : argument.size;
    cl_int status = cl().clSetKernelArg(kernel.handle, i, size, argument.bytes.data());
    if (status != CL_SUCCESS)
      check(status, "clSetKernelArg(" + kernel_ + ", " + std::to_string(i) + ")", device_.label());
  }
  return {std::move(lock), &kernel};
}

// Launches with too many groups are split. Kernels therefore count rows by get_global_id, not by
// get_group_id.
void Launch::enqueue_parts(PreparedKernel& ready, const std::array<size_t, 3>& global,
                           const std::array<size_t, 3>& local, cl_uint dimensions) {
  const size_t most_y = device_.most_groups() * local[1], most_z = device_.most_groups() * local[2];
  for (size_t z = 0; z < global[2]; z += most_z)
    for (size_t y = 0; y < global[1]; y += most_y) {
      const size_t offset[] = {0, y, z};
      const size_t part[] = {global[0], std::min(most_y, global[1] - y),
                             std::min(most_z, global[2] - z)};
      enqueue(ready, y || z ? offset : nullptr, part, local.data(), dimensions);
    }
}

void Launch::enqueue(PreparedKernel& ready, const size_t* offset, const size_t* global,
                     const size_t* local, cl_uint dimensions) {
  device_.enqueue("clEnqueueNDRangeKernel(" + kernel_ + ")", bytes_, [&] {
    if (!ready.lock) ready = prepare();
    CommandTimer timer(device_.timed_queue(), {"kernel", kernel_});
    const cl_int status =
        cl().clEnqueueNDRangeKernel(device_.queue(), ready.kernel->handle, dimensions, offset,
                                    global, local, 0, nullptr, timer.event());
    if (status != CL_SUCCESS) ready.lock.unlock();
    return status;
  });
  for (cl_mem block : blocks_) device_.used(block);
  count_launch(!ready.kernel->launched);
  ready.kernel->launched = true;
}

}  // namespace kaiseki::opencl
