// SPDX-License-Identifier: MIT
#include "matrix/memory/allocator.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace kaiseki {
namespace {

constexpr uint64_t kLargest = uint64_t{1} << 60;
constexpr int kAttempts = 3;
constexpr uint64_t kDivided = 256 << 10;  // smaller parts would keep large blocks from being joined
constexpr uint64_t kLine = 256;

}  // namespace

Allocator::Allocator(std::string device_name, RawMemory& raw, std::optional<uint64_t> budget)
    : device_name_(std::move(device_name)), raw_(raw), divided_(raw) {
  account_.budget = budget.value_or(0);
}

Allocator::~Allocator() { trim_locked(); }

// Rounds up to one of eight sizes between powers of two, which wastes at most an eighth. Slightly
// different sizes, as with the last partial batch, then reuse the same blocks.
uint64_t Allocator::rounded(uint64_t bytes) const {
  if (divides(bytes)) return (bytes + kLine - 1) / kLine * kLine;
  uint64_t step = std::max<uint64_t>(64, std::bit_floor(std::max<uint64_t>(1, bytes)) / 8);
  return (std::max<uint64_t>(1, bytes) + step - 1) / step * step;
}

bool Allocator::divides(uint64_t bytes) const { return bytes >= kDivided && raw_.divisible(); }

bool Allocator::within_budget(uint64_t bytes) const {
  return !account_.budget || held() + bytes <= account_.budget;
}

/// If `estimate` is set, also checks the device's available memory. Otherwise the device itself
/// decides.
bool Allocator::has_room(uint64_t bytes, bool estimate) const {
  if (!within_budget(bytes)) return false;
  return !estimate || !account_.workspace || bytes <= raw_.available();
}

void* Allocator::take_whole(uint64_t size) {
  auto found = free_.find(size);
  if (found == free_.end()) return nullptr;
  void* block = found->second;
  free_.erase(found);
  free_bytes_ -= size;
  raw_.reuse(block);
  return block;
}

void* Allocator::take_locked(uint64_t size, bool estimate) {
  const bool divided = divides(size);
  if (void* cached = divided ? divided_.take(size) : take_whole(size)) return cached;
  if (!has_room(size, estimate)) return nullptr;
  if (!divided) return raw_.allocate(size);
  if (void* part = divided_.take_empty(size)) return part;
  void* block = raw_.allocate(size);
  if (block) try {
      divided_.add(block, size);
    } catch (...) {
      raw_.release(block);
      throw;
    }
  return block;
}

void* Allocator::allocate_locked(uint64_t size, bool estimate) {
  void* block = take_locked(size, estimate);
  if (!block && (account_.cached || divided_.has_empty())) {
    trim_locked(size);
    block = take_locked(size, estimate);
  }
  if (!block) return nullptr;
  count_cached();
  account_.in_use += size;
  account_.peak = std::max(account_.peak, held());
  return block;
}

void* Allocator::allocate(uint64_t bytes) {
  std::unique_lock lock(mutex_);
  const uint64_t size = bytes > kLargest ? bytes : rounded(bytes);
  void* block = bytes > kLargest ? nullptr : allocate_locked(size);
  // Repeats, because another thread may take the released block first.
  bool gives = bytes <= kLargest;
  for (int i = 0; i < kAttempts && !block && account_.workspace && gives; ++i) {
    lock.unlock();  // release_for_tensors() releases blocks, which takes this lock
    gives = release_for_tensors_();
    lock.lock();
    block = allocate_locked(size);
  }
  if (!block && account_.workspace && bytes <= kLargest) block = allocate_locked(size, false);
  gives = bytes <= kLargest;
  while (!block && gives && !evictors_.empty()) {
    lock.unlock();
    gives = evict(size);
    lock.lock();
    block = allocate_locked(size);
  }
  if (!block)
    throw OutOfMemory(device_name_, {size, account_.in_use, account_.cached, account_.budget});
  return block;
}

void* Allocator::allocate_unused(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes > kLargest) return nullptr;
  const uint64_t size = rounded(bytes);
  if (!within_budget(size) || size > raw_.available()) return nullptr;
  void* block = raw_.allocate(size);
  if (!block) return nullptr;
  if (!raw_.commit(block, size)) {
    raw_.release(block);
    return nullptr;
  }
  account_.workspace += size;
  account_.peak = std::max(account_.peak, held());
  return block;
}

void Allocator::release(void* block, uint64_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  const uint64_t size = rounded(bytes);
  account_.in_use -= size;
  if (divides(size)) {
    divided_.put(block);
  } else if (!within_budget(size)) {  // the budget was lowered
    raw_.release(block);
  } else {
    try {
      free_.emplace(size, block);
      free_bytes_ += size;
    } catch (...) {
      raw_.release(block);
    }
  }
  count_cached();
}

void Allocator::count_cached() { account_.cached = free_bytes_ + divided_.cached(); }

void Allocator::release_unused(void* block, uint64_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  account_.workspace -= rounded(bytes);
  raw_.release(block);
}

/// Asks the evictors of this thread, without the lock. Only this thread removes them.
bool Allocator::evict(uint64_t bytes) {
  std::vector<Evictor*> mine;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [thread, evictor] : evictors_)
      if (thread == std::this_thread::get_id()) mine.push_back(evictor);
  }
  return std::ranges::any_of(mine, [&](Evictor* evictor) { return evictor->evict(bytes); });
}

void Allocator::add_evictor(Evictor& evictor) {
  std::lock_guard lock(mutex_);
  evictors_.emplace_back(std::this_thread::get_id(), &evictor);
}

void Allocator::remove_evictor(Evictor& evictor) {
  std::lock_guard lock(mutex_);
  std::erase(evictors_, std::pair(std::this_thread::get_id(), &evictor));
}

Allocator* Allocator::backing() {
  std::lock_guard lock(mutex_);
  RawMemory* raw = raw_.backing();
  if (raw && !backing_)
    backing_ = std::make_unique<Allocator>("the memory for tensors that left " + device_name_, *raw,
                                           raw->limit());
  return raw ? backing_.get() : nullptr;
}

bool Allocator::has_room_for(uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  const uint64_t size = rounded(bytes);
  if (free_.contains(size)) return true;
  return account_.budget != 0 && account_.in_use + account_.workspace + size <= account_.budget;
}

/// Within a budget, returns only the blocks that are in the way of a block of `size` bytes. The
/// largest go first.
void Allocator::trim_locked(uint64_t size) {
  if (!account_.budget) return trim_locked();
  while (!free_.empty() && !within_budget(size)) {
    const auto largest = std::prev(free_.end());
    raw_.release(largest->second);
    free_bytes_ -= largest->first;
    free_.erase(largest);
    count_cached();
  }
  divided_.give_back();
  count_cached();
}

void Allocator::trim_locked() {
  for (auto& [size, block] : free_) raw_.release(block);
  free_.clear();
  free_bytes_ = 0;
  divided_.give_back();
  count_cached();
}

void Allocator::trim() {
  std::lock_guard lock(mutex_);
  trim_locked();
}

void Allocator::reclaim() {
  trim();
  for (int i = 0; i < kAttempts && account().workspace && release_for_tensors_(); ++i) {
  }
}

void Allocator::set_release_for_tensors(std::function<bool()> release_for_tensors) {
  std::lock_guard lock(mutex_);
  release_for_tensors_ = std::move(release_for_tensors);
}

uint64_t Allocator::available() const {
  std::lock_guard lock(mutex_);
  return raw_.available();
}

MemoryAccount Allocator::account() const {
  std::lock_guard lock(mutex_);
  return account_;
}

void Allocator::reset_peak() {
  std::lock_guard lock(mutex_);
  account_.peak = held();
}

void Allocator::set_budget(std::optional<uint64_t> bytes) {
  std::lock_guard lock(mutex_);
  account_.budget = bytes.value_or(0);
}

}  // namespace kaiseki
