// SPDX-License-Identifier: MIT
#include "matrix/memory/buffer.h"

#include <atomic>

#include "matrix/memory/allocator.h"
#include "matrix/memory/host.h"

namespace kaiseki {
namespace {

std::atomic<uint64_t> to_device, to_host, to_device_bytes, to_host_bytes;

/// Host copies of tensors on other devices. They do not count in any device's budget.
class HostMemory : public RawMemory {
 public:
  void* allocate(uint64_t bytes) override { return allocate_host(bytes); }
  void release(void* block) noexcept override { release_host(block); }
  bool divisible() const override { return can_discard_host(); }
  void discard(void* part, uint64_t bytes) noexcept override { discard_host(part, bytes); }
};

Allocator& staging() {
  static HostMemory raw;
  static Allocator* allocator = new Allocator("host", raw, {});  // outlives every static tensor
  return *allocator;
}

}  // namespace

TransferCount transfer_count() { return {to_device, to_host, to_device_bytes, to_host_bytes}; }

Buffer::Buffer(uint64_t bytes, Device device) : bytes_(bytes), device_(device) {
  block_ = device.memory().allocate(bytes);
  change();
}

Buffer::Buffer(uint64_t bytes, Device device, void* unused)
    : bytes_(bytes), device_(device), block_(unused), unused_(true) {
  change();
}

Buffer::~Buffer() {
  if (unused_)
    device_.memory().release_unused(block_, bytes_);
  else
    device_.memory().release(block_, bytes_);
  if (host_) staging().release(host_, bytes_);
}

void Buffer::change() {
  static std::atomic<uint64_t> last;
  contents_ = ++last;
}

void* Buffer::host(Access access) {
  if (access != Access::read) change();
  if (device_.is_cpu()) return block_;
  if (!host_) host_ = staging().allocate(bytes_);
  if (access != Access::write && !host_valid_ && block_valid_) {
    device_.memory().download(host_, block_, bytes_);
    ++to_host;
    to_host_bytes += bytes_;
  }
  host_valid_ = true;
  if (access != Access::read) block_valid_ = false;
  return host_;
}

void* Buffer::on_device(Access access) {
  if (access != Access::read) change();
  if (device_.is_cpu()) return block_;
  if (access != Access::write && !block_valid_ && host_valid_) {
    device_.memory().upload(block_, host_, bytes_);
    ++to_device;
    to_device_bytes += bytes_;
  }
  block_valid_ = true;
  if (access != Access::read) host_valid_ = false;
  return block_;
}

}  // namespace kaiseki
