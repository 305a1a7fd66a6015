// SPDX-License-Identifier: MIT
#include "matrix/memory/pool.h"

#include <algorithm>
#include <bit>

#include "matrix/error.h"

namespace kaiseki {
namespace {

constexpr uint64_t kLargest = uint64_t{1} << 60;
constexpr int kAttempts = 3;
constexpr uint64_t kDivided = 256 << 10;  // smaller ones would keep large blocks from joining
constexpr uint64_t kLine = 256;

}  // namespace

MemoryPool::MemoryPool(std::string device_name, RawMemory& raw, std::optional<uint64_t> budget)
    : device_name_(std::move(device_name)), raw_(raw), parts_(raw) {
  account_.budget = budget.value_or(0);
}

MemoryPool::~MemoryPool() { trim_locked(); }

// Eight sizes to a power of two: at most an eighth is lost, and sizes that change with the last
// partial batch still meet blocks of their class.
uint64_t MemoryPool::rounded(uint64_t bytes) const {
  if (divides(bytes)) return (bytes + kLine - 1) / kLine * kLine;
  uint64_t step = std::max<uint64_t>(64, std::bit_floor(std::max<uint64_t>(1, bytes)) / 8);
  return (std::max<uint64_t>(1, bytes) + step - 1) / step * step;
}

bool MemoryPool::divides(uint64_t bytes) const { return bytes >= kDivided && raw_.divisible(); }

bool MemoryPool::within_budget(uint64_t bytes) const {
  return !account_.budget || held() + bytes <= account_.budget;
}

/// By the device's estimate, or leaving that to the device itself.
bool MemoryPool::has_room(uint64_t bytes, bool estimate) const {
  if (!within_budget(bytes)) return false;
  return !estimate || !account_.workspace || bytes <= raw_.available();
}

void* MemoryPool::take_whole(uint64_t size) {
  auto found = free_.find(size);
  if (found == free_.end()) return nullptr;
  void* block = found->second;
  free_.erase(found);
  free_bytes_ -= size;
  return block;
}

void* MemoryPool::take_locked(uint64_t size, bool estimate) {
  const bool divided = divides(size);
  if (void* cached = divided ? parts_.take(size) : take_whole(size)) return cached;
  if (!has_room(size, estimate)) return nullptr;
  if (!divided) return raw_.allocate(size);
  if (void* part = parts_.take_empty(size)) return part;
  void* block = raw_.allocate(size);
  if (block) try {
      parts_.add(block, size);
    } catch (...) {
      raw_.release(block);
      throw;
    }
  return block;
}

void* MemoryPool::allocate_locked(uint64_t size, bool estimate) {
  void* block = take_locked(size, estimate);
  if (!block && (account_.cached || parts_.has_empty())) {
    trim_locked();
    block = take_locked(size, estimate);
  }
  if (!block) return nullptr;
  count_cached();
  account_.in_use += size;
  account_.peak = std::max(account_.peak, held());
  return block;
}

void* MemoryPool::allocate(uint64_t bytes) {
  std::unique_lock lock(mutex_);
  const uint64_t size = bytes > kLargest ? bytes : rounded(bytes);
  void* block = bytes > kLargest ? nullptr : allocate_locked(size);
  // Another thread may take the block again in between.
  bool gives = bytes <= kLargest;
  for (int i = 0; i < kAttempts && !block && account_.workspace && gives; ++i) {
    lock.unlock();  // giving way releases a block here
    gives = give_way_();
    lock.lock();
    block = allocate_locked(size);
  }
  if (!block && account_.workspace && bytes <= kLargest) block = allocate_locked(size, false);
  if (!block)
    throw OutOfMemory(device_name_, size, account_.in_use, account_.cached, account_.budget);
  return block;
}

void* MemoryPool::allocate_unused(uint64_t bytes) {
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

void MemoryPool::release(void* block, uint64_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  const uint64_t size = rounded(bytes);
  account_.in_use -= size;
  if (divides(size)) {
    parts_.put(block);
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

void MemoryPool::count_cached() { account_.cached = free_bytes_ + parts_.cached(); }

void MemoryPool::release_unused(void* block, uint64_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  account_.workspace -= rounded(bytes);
  raw_.release(block);
}

void MemoryPool::trim_locked() {
  for (auto& [size, block] : free_) raw_.release(block);
  free_.clear();
  free_bytes_ = 0;
  parts_.give_back();
  count_cached();
}

void MemoryPool::trim() {
  std::lock_guard lock(mutex_);
  trim_locked();
}

void MemoryPool::reclaim() {
  trim();
  for (int i = 0; i < kAttempts && account().workspace && give_way_(); ++i) {
  }
}

void MemoryPool::set_give_way(std::function<bool()> give_way) {
  std::lock_guard lock(mutex_);
  give_way_ = std::move(give_way);
}

uint64_t MemoryPool::available() const {
  std::lock_guard lock(mutex_);
  return raw_.available();
}

MemoryAccount MemoryPool::account() const {
  std::lock_guard lock(mutex_);
  return account_;
}

void MemoryPool::reset_peak() {
  std::lock_guard lock(mutex_);
  account_.peak = held();
}

void MemoryPool::set_budget(std::optional<uint64_t> bytes) {
  std::lock_guard lock(mutex_);
  account_.budget = bytes.value_or(0);
}

}  // namespace kaiseki
