// SPDX-License-Identifier: MIT
#include "matrix/memory/workspace.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "matrix/backend.h"
#include "matrix/memory/pool.h"

namespace kaiseki {
namespace {

constexpr uint64_t kEarlyPart = 16;
constexpr uint64_t kKeptPart = 4;    // of the device's memory, at most, for what is kept
constexpr int kPatience = 10'000;    // milliseconds that a tensor waits for a convolution's end
constexpr uint64_t kAskAgain = 100;  // iterations after which a device that refused is asked anew

}  // namespace

Workspace::Workspace(Device device, MemoryPool& pool)
    : device_(device), pool_(pool), kept_(device) {
  pool_.set_give_way([this] { return give_way(); });
}

void Workspace::set_limit(std::optional<uint64_t> bytes) {
  std::lock_guard lock(mutex_);
  limit_ = bytes;
  gave_way_ = false;
  refused_ = UINT64_MAX;
  registered_.clear();
  block_ = {};
  kept_.clear();
}

void Workspace::register_size(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (!limit_) registered_.insert(bytes);
}

void Workspace::end_iteration() {
  std::lock_guard lock(mutex_);
  kept_.purge();
  if (++since_refused_ == kAskAgain) refused_ = UINT64_MAX;
  const bool wanted = !registered_.empty() && *registered_.begin() > size();
  const uint64_t most = wanted ? room() : 0;
  for (uint64_t bytes : registered_)
    if (bytes <= size() || take(bytes, most)) break;
  registered_.clear();
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
  return gave_way_ ? size() : std::max(size(), device_memory() / kEarlyPart);
}

bool Workspace::allows(uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  return !limit_ || bytes <= *limit_;
}

Workspace::Use Workspace::use(uint64_t bytes) {
  Use use{std::unique_lock(mutex_), {}};
  if (bytes > size() && bytes <= available()) take(bytes, room());
  if (bytes <= size()) use.memory = block_;
  return use;
}

uint64_t Workspace::device_memory() const {
  if (const uint64_t budget = pool_.account().budget) return budget;
  return device_limits().memory;
}

const Workspace::Limits& Workspace::device_limits() const {
  if (!limits_) {
    const DeviceInfo info = device_.backend().info();
    limits_ = Limits{info.memory, info.max_allocation};
  }
  return *limits_;
}

Workspace::Use Workspace::try_out(uint64_t bytes) {
  Use trial{std::unique_lock(mutex_), {}};
  if (bytes <= size() || limit_) return use(bytes);
  const uint64_t all = room(), held = block_.defined() ? pool_.rounded(size()) : 0;
  if (fits(bytes, all - std::min(all, held))) trial.memory = allocate(bytes);
  return trial;
}

Workspace::Use Workspace::keep(const Tensor& source, const Kept::Form& form,
                               const Kept::Make& make) {
  Use use{std::unique_lock(mutex_), {}};
  if (limit_) return use;
  use.memory = kept_.of(source, form, make, [this](uint64_t bytes) {
    const uint64_t memory = device_memory();
    const bool moderate = !memory || kept_.bytes() + bytes <= memory / kKeptPart;
    return moderate && fits(bytes, room_beside()) ? Tensor::of_unused_memory(bytes, device_)
                                                  : Tensor();
  });
  return use;
}

uint64_t Workspace::kept_bytes() const {
  std::lock_guard lock(mutex_);
  return kept_.bytes();
}

/// In place of the present block and of all that is kept. A device without a budget may promise
/// more memory than it has.
uint64_t Workspace::room() const {
  const MemoryAccount account = pool_.account();
  const uint64_t tensors = account.in_use + account.cached, memory = device_memory();
  const uint64_t unused = memory ? memory - std::min(memory, tensors) : UINT64_MAX;
  const uint64_t available = std::min(pool_.available(), UINT64_MAX - account.workspace);
  return std::min(unused, account.workspace + available);
}

uint64_t Workspace::room_beside() const {
  const uint64_t all = room();
  return all - std::min(all, pool_.account().workspace);
}

/// In one buffer.
bool Workspace::fits(uint64_t bytes, uint64_t room) const {
  const uint64_t size = pool_.rounded(bytes), largest = device_limits().allocation;
  return size <= room && (!largest || size <= largest);
}

bool Workspace::was_refused(uint64_t bytes, uint64_t held) const {
  return bytes >= refused_ && held >= refused_beside_;
}

/// In place of what is kept, if need be.
Tensor Workspace::allocate(uint64_t bytes) {
  if (!fits(bytes, room_beside())) kept_.clear();
  Tensor memory = Tensor::of_unused_memory(bytes, device_);
  if (memory.defined() || kept_.bytes() == 0) return memory;
  kept_.clear();
  return Tensor::of_unused_memory(bytes, device_);
}

/// A device may refuse though it seemed to fit: not asked again before tensors need less
/// or others may have given it back.
bool Workspace::take(uint64_t bytes, uint64_t room) {
  const MemoryAccount account = pool_.account();
  const uint64_t held = account.in_use + account.cached, before = size();
  if (was_refused(bytes, held) || !fits(bytes, room)) return false;
  block_ = {};
  block_ = allocate(bytes);
  if (block_.defined()) return true;
  refused_ = bytes, refused_beside_ = held, since_refused_ = 0;
  if (before) block_ = allocate(before);
  return false;
}

/// First what is kept, and when called again the block; false when there is neither, or
/// it was waited for in vain. A convolution on another thread ends first, unless it waits for what
/// this thread holds. One on this thread keeps its memory till its end.
bool Workspace::give_way() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  for (int i = 0; i < kPatience && !lock.owns_lock(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.try_lock();
  }
  if (!lock.owns_lock()) return false;
  if (kept_.bytes() > 0) {
    kept_.clear();
    return true;
  }
  gave_way_ = true;
  const bool had_block = block_.defined();
  block_ = {};
  return had_block;
}

}  // namespace kaiseki
