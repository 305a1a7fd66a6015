// SPDX-License-Identifier: MIT
#include "tests/matrix/backend/bare/bare_backend.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "matrix/backend/operations/copy.h"
#include "matrix/backend/registry.h"
#include "matrix/memory/buffer.h"
#include "matrix/tensor.h"
#include "matrix/with_type.h"

namespace kaiseki::test {

DeviceInfo BareBackend::info() const {
  DeviceInfo info;
  info.device = device();
  info.name = "bare";
  info.memory = kBareMemory;
  info.max_allocation = kBareLargest;
  return info;
}

void BareBackend::add_fill() {
  kernels_.add(kFill, [this](const FillArgs& args) {
    ++fills;
    const Tensor& y = *args.output;
    void* block = args.output->buffer().on_device(Access::read_write);
    with_type(y.dtype(), [&]<class T>(T) {
      std::fill_n(static_cast<T*>(block) + y.offset(), y.size(), static_cast<T>(args.value));
    });
  });
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

Device bare_device() { return Device::of("bare"); }

}  // namespace kaiseki::test

const kaiseki::BackendEntry& kaiseki::bare_backend_entry() {
  static const BackendEntry entry{
      "bare",
      [](int index) -> Backend& {
        if (index == 0) return test::bare_backend();
        throw DeviceError(message("bare", "expected device 0, got ", index));
      },
      [] { return std::vector{test::bare_backend().info()}; }, [] { return std::string(); }};
  return entry;
}
