// SPDX-License-Identifier: MIT
#include "matrix/memory/buffer.h"

#include <atomic>
#include <utility>

#include "base/error.h"
#include "matrix/has_devices.h"
#include "matrix/memory/allocator.h"
#include "matrix/memory/host.h"
#include "matrix/memory/out_of_core.h"
#include "matrix/memory/place_copies.h"

namespace kaiseki {
namespace {

std::atomic<uint64_t> to_device, to_host, to_device_bytes, to_host_bytes;

/// Host copies of tensors on other devices. They do not count in any device's budget.
class HostMemory : public RawMemory {
 public:
  void* allocate(uint64_t bytes) override { return allocate_host(bytes); }
  void release(void* block) noexcept override { release_host(block); }
  std::optional<BlockDivision> division() const override { return host_division(); }
  void discard(void* part, uint64_t bytes) noexcept override { discard_host(part, bytes); }
};

Allocator& staging() {
  static HostMemory raw;
  static Allocator* allocator = new Allocator("host", raw, {});  // outlives every static tensor
  return *allocator;
}

/// Returns the place of a tensor that left another device than the CPU for a file. Otherwise
/// nullptr.
SpillPlace* place_of(Device device, Allocator* memory, void* host) {
  if (!kHasDevices || !memory || device.is_cpu() || !has_places(memory->copies())) return nullptr;
  return static_cast<SpillPlace*>(host);
}

CopyRegion all_of(uint64_t bytes) {
  CopyRegion region;
  region.row = bytes;
  return region;
}

/// Other memory of the host for a tensor that is in a file.
void* memory_of_host(const SpillPlace& place, uint64_t bytes, bool has_contents) {
  void* const memory = staging().allocate(bytes);
  if (has_contents) try {
      place.read(memory, all_of(bytes));
    } catch (...) {
      staging().release(memory, bytes);
      throw;
    }
  return memory;
}

}  // namespace

TransferCount transfer_count() { return {to_device, to_host, to_device_bytes, to_host_bytes}; }

Buffer::Buffer(uint64_t bytes, Device device) : bytes_(bytes), device_(device) {
  try {
    block_ = device.memory().allocate(bytes);
  } catch (const OutOfMemory&) {
    if (bytes < smallest_outside(device) || !tensors_can_leave(device)) throw;
  } catch (const DeviceError&) {  // larger than the device's largest block
    if (bytes <= device.info().max_allocation || !tensors_can_leave(device)) throw;
  }
  change();
}

Buffer::Buffer(uint64_t bytes, Device device, void* unused)
    : bytes_(bytes), device_(device), block_(unused), unused_(true) {
  change();
}

Buffer::~Buffer() {
  if (unused_)
    device_.memory().release_unused(block_, bytes_);
  else if (block_)
    device_.memory().release(block_, bytes_);
  if (host_) host_memory_->release(host_, bytes_);
}

void Buffer::change() {
  static std::atomic<uint64_t> last;
  contents_ = ++last;
}

/// A block of the backing store may have belonged to a buffer whose copy is still under way. If a
/// GPU's store is full, files or other host memory hold the copy. The device then waits for copies.
void Buffer::allocate_host_copy(bool backing) {
  if (host_) return;
  Allocator* const memory = backing ? device_.memory().backing() : nullptr;
  Allocator* const files =
      kHasDevices && memory && !device_.is_cpu() ? Device::cpu().memory().backing() : nullptr;
  for (Allocator* place : {memory, files}) try {
      if (!place) continue;
      host_ = place->allocate(bytes_);
      host_memory_ = place;
      copying_ = place == memory;
      return;
    } catch (const OutOfMemory&) {
      if (device_.is_cpu()) throw;
    }
  if (device_.is_cpu())
    throw Error(message("memory", "a tensor has left the CPU, but there is no spill folder now"));
  host_ = staging().allocate(bytes_);
  host_memory_ = &staging();
}

void Buffer::copy_to_host() {
  RawMemory& copies = device_.memory().copies();
  if (SpillPlace* place = place_of(device_, host_memory_, host_)) {
    download_to_place(*place, copies, block_, all_of(bytes_));
  } else if (host_memory_ == &staging()) {
    copies.download(host_, block_, bytes_);
  } else {
    copies.start_download(host_, block_, bytes_);
    copying_ = true;
  }
  ++to_host;
  to_host_bytes += bytes_;
}

void Buffer::copy_to_device() {
  RawMemory& copies = device_.memory().copies();
  if (const SpillPlace* place = place_of(device_, host_memory_, host_)) {
    upload_from_place(copies, block_, *place, all_of(bytes_));
  } else if (host_memory_ == &staging()) {
    copies.upload(block_, host_, bytes_);
  } else {
    copies.start_upload(block_, host_, bytes_);
    copying_ = true;
  }
  ++to_device;
  to_device_bytes += bytes_;
}

void* Buffer::host(Access access) {
  if (device_.is_cpu()) return on_device(access);
  if (access != Access::read) change();
  if (const SpillPlace* place = place_of(device_, host_memory_, host_)) {
    void* memory = memory_of_host(*place, bytes_, access != Access::write && host_valid_);
    host_memory_->release(std::exchange(host_, memory), bytes_);
    host_memory_ = &staging();
  }
  allocate_host_copy(false);
  if (access != Access::write && !host_valid_ && block_valid_) copy_to_host();
  if (std::exchange(copying_, false)) device_.memory().copies().finish_copies(host_);
  host_valid_ = true;
  if (access != Access::read) block_valid_ = false;
  return host_;
}

/// Threads may read a CPU tensor at the same time, so such a read writes nothing. Only one thread
/// at a time may use a tensor that left.
void* Buffer::on_device(Access access) {
  if (access != Access::read) change();
  if (device_.is_cpu() && block_ && !copying_) {
    if (access != Access::read) host_valid_ = false;
    return block_;
  }
  void* const block = enter_device(access);
  if (copying_ && device_.is_cpu()) {
    device_.memory().copies().finish_copies_of_block(block, bytes_);
    copying_ = false;
  }
  return block;
}

void Buffer::return_to_device() { enter_device(Access::read); }

void* Buffer::enter_device(Access access) {
  const bool is_new = !block_;
  if (is_new) block_ = device_.memory().allocate(bytes_);
  const bool has_contents = device_.is_cpu() ? !is_new : block_valid_;
  if (access != Access::write && !has_contents && host_valid_) try {
      copy_to_device();
    } catch (...) {
      if (is_new) device_.memory().release(std::exchange(block_, nullptr), bytes_);
      throw;
    }
  block_valid_ = true;
  if (access != Access::read) host_valid_ = false;
  return block_;
}

void Buffer::send_to(Buffer& piece, const CopyRegion& region) {
  allocate_host_copy(true);
  RawMemory& copies = device_.memory().copies();
  void* const block = piece.on_device(Access::read_write);
  if (const SpillPlace* place = place_of(device_, host_memory_, host_)) {
    upload_from_place(copies, block, *place, region);
  } else {
    copies.start_upload(block, host_, region);
    copying_ = host_memory_ != &staging();
    piece.copying_ = device_.is_cpu();
  }
  host_valid_ = true;
  ++to_device;
  to_device_bytes += region.bytes();
}

void Buffer::receive_from(Buffer& piece, const CopyRegion& region) {
  change();
  allocate_host_copy(true);
  RawMemory& copies = device_.memory().copies();
  void* const block = piece.on_device(Access::read);
  if (SpillPlace* place = place_of(device_, host_memory_, host_)) {
    download_to_place(*place, copies, block, region);
  } else {
    copies.start_download(host_, block, region);
    copying_ = host_memory_ != &staging();
    piece.copying_ = device_.is_cpu();
  }
  host_valid_ = true;
  ++to_host;
  to_host_bytes += region.bytes();
}

void Buffer::leave_device() {
  if (unused_ || !block_) return;
  const bool cpu = device_.is_cpu();
  if (cpu && !device_.memory().backing()) return;
  if ((cpu || block_valid_) && !host_valid_) {
    allocate_host_copy(true);
    copy_to_host();
    host_valid_ = true;
  }
  block_valid_ = false;
  device_.memory().release(std::exchange(block_, nullptr), bytes_);
}

}  // namespace kaiseki
