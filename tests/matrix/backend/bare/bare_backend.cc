// SPDX-License-Identifier: MIT
#include "tests/matrix/backend/bare/bare_backend.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "matrix/error.h"

namespace kaiseki {
namespace test {

DeviceInfo BareBackend::info() const {
  DeviceInfo info;
  info.device = device();
  info.name = "bare";
  info.memory = kBareMemory;
  info.max_allocation = kBareLargest;
  return info;
}

void BareBackend::upload(void* block, const void* host, uint64_t bytes) {
  std::memcpy(block, host, bytes);
}

void BareBackend::download(void* host, void* block, uint64_t bytes) {
  std::memcpy(host, block, bytes);
}

void BareBackend::fill(Tensor& t, float value) {
  ++fills;
  auto* block = static_cast<float*>(t.buffer().on_device(Access::read_write));
  std::fill_n(block + t.offset(), t.size(), value);
}

void* BareBackend::allocate(uint64_t bytes) {
  if (bytes > kBareLargest) throw DeviceError(message("bare", "too large: ", bytes));
  ++allocations;
  return bytes >= refused_from ? nullptr : std::malloc(bytes);
}
void BareBackend::release(void* block) noexcept { std::free(block); }

BareBackend& bare_backend() {
  static auto* backend = new BareBackend;
  return *backend;
}

}  // namespace test

// In place of matrix/backend/opencl/backend.cc, which is not linked then.
Backend& opencl_backend(int index) {
  if (index != 0) throw DeviceError(message("bare", "expected device 0, got ", index));
  return test::bare_backend();
}
std::vector<DeviceInfo> list_opencl_devices() { return {test::bare_backend().info()}; }
std::string opencl_device_problem() { return {}; }

}  // namespace kaiseki
