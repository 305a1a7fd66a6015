// SPDX-License-Identifier: MIT
#include "matrix/backend/opencl/backend.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>

#include "matrix/error.h"

namespace kaiseki {
namespace opencl {

DeviceInfo device_info(int index, const DeviceFacts& facts) {
  DeviceInfo info;
  info.device = Device::opencl(index);
  info.name = facts.name;
  info.platform = facts.platform;
  info.driver = facts.driver;
  info.is_gpu = facts.is_gpu;
  info.compute_units = facts.compute_units;
  info.memory = facts.memory;
  info.max_allocation = facts.max_allocation;
  return info;
}

bool OpenclBackend::has(Op op) const {
  constexpr Op kOperations[] = {Op::copy,        Op::fill,       Op::gemm,       Op::elementwise,
                                Op::reduce,      Op::arg_reduce, Op::softmax,    Op::cross_entropy,
                                Op::convolution, Op::pooling,    Op::batch_norm, Op::lrn,
                                Op::random,      Op::gather};
  return std::find(std::begin(kOperations), std::end(kOperations), op) != std::end(kOperations);
}

DeviceInfo OpenclBackend::info() const { return device_info(device_.index(), device_.facts()); }

}  // namespace opencl

Backend& opencl_backend(int index) {
  static std::mutex mutex;
  static auto* backends = new std::map<int, std::unique_ptr<opencl::OpenclBackend>>;
  std::lock_guard lock(mutex);
  auto& backend = (*backends)[index];
  if (!backend) backend = std::make_unique<opencl::OpenclBackend>(opencl::opencl_device(index));
  return *backend;
}

namespace {

struct Found {
  std::vector<DeviceInfo> devices;
  std::string problem;
};

/// Devices that open and run a first kernel, and the first reason why something else does not.
Found find_devices() {
  Found found{{}, opencl::platforms().problem};
  const auto& all = opencl::platforms().devices;
  for (int i = 0; i < static_cast<int>(all.size()); ++i) try {
      found.devices.push_back(opencl::device_info(i, all[i]));
    } catch (const Error& error) {
      if (found.problem.empty()) found.problem = error.what();
    }
  return found;
}

}  // namespace

std::vector<DeviceInfo> list_opencl_devices() { return find_devices().devices; }

std::string opencl_device_problem() { return find_devices().problem; }

}  // namespace kaiseki
