// SPDX-License-Identifier: MIT
#include "matrix/memory/workspace.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "matrix/has_devices.h"
#include "matrix/memory/allocator.h"

namespace kaiseki {
namespace {

// A block is rounded up by at most an eighth. A ninth of the memory then becomes an eighth at most,
// which the allocator lets the workspace keep.
constexpr uint64_t kEarlyPart = 16, kEarlyPartOfTensors = 9;
// Limit for transformed filters: this fraction of the device's memory.
constexpr uint64_t kKeptPart = 4;
constexpr int kPatience = 10'000;    // milliseconds that a tensor waits for a convolution to end
constexpr uint64_t kAskAgain = 100;  // calls of grow() between a refusal and the next request

}  // namespace

Workspace::Workspace(Device device, Allocator& allocator)
    : device_(device), allocator_(allocator), derived_(device) {
  allocator_.set_release_for_tensors([this] { return release_for_tensors(); });
}

void Workspace::set_limit(std::optional<uint64_t> bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
  gave_way_ = false;
  refused_.reset();
  in_vain_.reset();
  wanted_.clear();
  callers_.clear();
  block_ = {};
  derived_.clear();
}

void Workspace::restart(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  set_limit(limit_);
  if (!limit_) reserve(bytes);
}

void Workspace::request_sizes(std::span<const uint64_t> bytes, const Caller& caller) {
  if (bytes.empty()) return;
  std::lock_guard lock(mutex_);
  if (limit_) return;
  wanted_.insert(bytes.begin(), bytes.end());
  callers_.insert(caller);
}

void Workspace::begin_convolution(const Caller& caller) {
  std::lock_guard lock(mutex_);
  if (callers_.contains(caller)) grow();
}

void Workspace::grow() {
  std::lock_guard lock(mutex_);
  derived_.purge();
  if (++since_refused_ == kAskAgain) refused_.reset();
  if (++since_in_vain_ == kAskAgain) in_vain_.reset();
  const bool larger = !wanted_.empty() && *wanted_.begin() > size();
  const uint64_t most = larger ? room() : 0;
  for (uint64_t bytes : wanted_)
    if (bytes <= size() || take(bytes, most)) break;
  wanted_.clear();
  callers_.clear();
}

void Workspace::reserve(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (!limit_ && bytes > size()) take(bytes, room());
}

uint64_t Workspace::size() const {
  std::lock_guard lock(mutex_);
  return block_.defined() ? block_.bytes() : 0;
}

uint64_t Workspace::available() const {
  std::lock_guard lock(mutex_);
  if (limit_) return *limit_;
  const bool can_make_room = kHasDevices && !refused_ && allocator_.can_make_room();
  if (gave_way_ && !can_make_room) return size();
  return std::max(size(), device_memory() / (can_make_room ? kEarlyPartOfTensors : kEarlyPart));
}

bool Workspace::allows(uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  return !limit_ || bytes <= *limit_;
}

Workspace::HeldBlock Workspace::use(uint64_t bytes) {
  HeldBlock use{std::unique_lock(mutex_), {}};
  if (bytes > size() && bytes <= available()) {
    if (kHasDevices && !fits(bytes, room())) make_room(bytes);
    take(bytes, room());
  }
  if (bytes <= size()) use.memory = block_;
  return use;
}

/// If tensors left and there was still no room, does not ask for as much again soon.
void Workspace::make_room(uint64_t bytes) {
  if (in_vain_ && bytes >= *in_vain_) return;
  const uint64_t before = allocator_.account().in_use;
  if (allocator_.make_room(bytes) || allocator_.account().in_use >= before) return;
  in_vain_ = bytes, since_in_vain_ = 0;
}

uint64_t Workspace::device_memory() const {
  if (const uint64_t budget = allocator_.account().budget) return budget;
  return device_limits().memory;
}

const Workspace::DeviceLimits& Workspace::device_limits() const {
  if (!limits_) {
    const DeviceInfo info = device_.info();
    limits_ = DeviceLimits{info.memory, info.max_allocation};
  }
  return *limits_;
}

Workspace::HeldBlock Workspace::use_for_measurement(uint64_t bytes) {
  HeldBlock trial{std::unique_lock(mutex_), {}};
  if (bytes <= size() || limit_) return use(bytes);
  const uint64_t all = room(), held = block_.defined() ? allocator_.rounded_unused(size()) : 0;
  if (fits(bytes, all - std::min(all, held))) trial.memory = allocate(bytes);
  return trial;
}

Workspace::HeldBlock Workspace::use_derived(const Tensor& source, const DerivedCache::Form& form,
                                            const DerivedCache::Make& make) {
  HeldBlock use{std::unique_lock(mutex_), {}};
  if (limit_) return use;
  derived_.purge();
  use.memory = derived_.of(source, form, make, [this](uint64_t bytes) {
    const uint64_t memory = device_memory();
    const bool moderate = !memory || derived_.bytes() + bytes <= memory / kKeptPart;
    return moderate && fits(bytes, room_beside()) ? Tensor::from_unused_memory(bytes, device_)
                                                  : Tensor();
  });
  return use;
}

uint64_t Workspace::derived_bytes() const {
  std::lock_guard lock(mutex_);
  return derived_.bytes();
}

/// The room if the current block and all transformed filters are released. A device without a
/// budget may promise more memory than it has.
uint64_t Workspace::room() const {
  const MemoryAccount account = allocator_.account();
  const uint64_t tensors = account.in_use + account.cached, memory = device_memory();
  const uint64_t unused = memory ? memory - std::min(memory, tensors) : UINT64_MAX;
  const uint64_t available = std::min(allocator_.available(), UINT64_MAX - account.workspace);
  return std::min(unused, account.workspace + available);
}

uint64_t Workspace::room_beside() const {
  const uint64_t all = room();
  return all - std::min(all, allocator_.account().workspace);
}

/// Returns whether a block of this size fits, in one buffer.
bool Workspace::fits(uint64_t bytes, uint64_t room) const {
  const uint64_t size = allocator_.rounded_unused(bytes), largest = device_limits().allocation;
  return size <= room && (!largest || size <= largest);
}

bool Workspace::was_refused(uint64_t bytes, uint64_t held) const {
  return refused_ && bytes >= *refused_ && held >= refused_beside_;
}

/// Releases the transformed filters if necessary.
Tensor Workspace::allocate(uint64_t bytes) {
  if (!fits(bytes, room_beside())) derived_.clear();
  Tensor memory = Tensor::from_unused_memory(bytes, device_);
  if (memory.defined() || derived_.bytes() == 0) return memory;
  derived_.clear();
  return Tensor::from_unused_memory(bytes, device_);
}

/// A device may refuse although the block seemed to fit. It is then not asked again until tensors
/// need less or other programs may have freed memory.
bool Workspace::take(uint64_t bytes, uint64_t room) {
  const MemoryAccount account = allocator_.account();
  const uint64_t held = account.in_use + account.cached, before = size();
  if (was_refused(bytes, held) || !fits(bytes, room)) return false;
  block_ = {};
  block_ = allocate(bytes);
  if (block_.defined()) return true;
  refused_ = bytes, refused_beside_ = held, since_refused_ = 0;
  if (before) block_ = allocate(before);
  return false;
}

/// The first call releases the transformed filters, the next call the block. Returns false if there
/// is nothing to release, or if the wait timed out. Waits for a convolution on another thread,
/// unless that convolution waits for this thread. A convolution on this thread keeps its memory
/// until it ends.
bool Workspace::release_for_tensors() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  for (int i = 0; i < kPatience && !lock.owns_lock(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.try_lock();
  }
  if (!lock.owns_lock()) return false;
  if (derived_.bytes() > 0) {
    derived_.clear();
    return true;
  }
  gave_way_ = true;
  const bool had_block = block_.defined();
  block_ = {};
  return had_block;
}

}  // namespace kaiseki
