// SPDX-License-Identifier: MIT
#include "matrix/memory/pool.h"

#include <algorithm>
#include <bit>

#include "matrix/error.h"

namespace kaiseki {
namespace {

constexpr uint64_t kLargest = uint64_t{1} << 60;

}  // namespace

MemoryPool::MemoryPool(std::string device_name, RawMemory& raw, std::optional<uint64_t> budget)
    : device_name_(std::move(device_name)), raw_(raw) {
  account_.budget = budget.value_or(0);
}

MemoryPool::~MemoryPool() { trim_locked(); }

// Eight sizes to a power of two: at most an eighth is lost, and sizes that change with the last
// partial batch still meet blocks of their class.
uint64_t MemoryPool::rounded(uint64_t bytes) {
  uint64_t step = std::max<uint64_t>(64, std::bit_floor(std::max<uint64_t>(1, bytes)) / 8);
  return (bytes + step - 1) / step * step;
}

void* MemoryPool::try_allocate(uint64_t bytes) {
  if (account_.budget && account_.in_use + account_.cached + bytes > account_.budget)
    return nullptr;
  return raw_.allocate(bytes);
}

void* MemoryPool::allocate(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes > kLargest)
    throw OutOfMemory(device_name_, bytes, account_.in_use, account_.cached, account_.budget);
  uint64_t size = std::max<uint64_t>(64, rounded(bytes));
  void* block = nullptr;
  if (auto found = free_.find(size); found != free_.end()) {
    block = found->second;
    free_.erase(found);
    account_.cached -= size;
  } else {
    block = try_allocate(size);
    if (!block && account_.cached) {
      trim_locked();
      block = try_allocate(size);
    }
    if (!block)
      throw OutOfMemory(device_name_, size, account_.in_use, account_.cached, account_.budget);
  }
  account_.in_use += size;
  account_.peak = std::max(account_.peak, account_.in_use + account_.cached);
  return block;
}

void MemoryPool::release(void* block, uint64_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  uint64_t size = std::max<uint64_t>(64, rounded(bytes));
  account_.in_use -= size;
  try {
    free_.emplace(size, block);
    account_.cached += size;
  } catch (...) {
    raw_.release(block);
  }
}

void MemoryPool::trim_locked() {
  for (auto& [size, block] : free_) raw_.release(block);
  free_.clear();
  account_.cached = 0;
}

void MemoryPool::trim() {
  std::lock_guard lock(mutex_);
  trim_locked();
}

MemoryAccount MemoryPool::account() const {
  std::lock_guard lock(mutex_);
  return account_;
}

void MemoryPool::reset_peak() {
  std::lock_guard lock(mutex_);
  account_.peak = account_.in_use + account_.cached;
}

void MemoryPool::set_budget(std::optional<uint64_t> bytes) {
  std::lock_guard lock(mutex_);
  account_.budget = bytes.value_or(0);
}

}  // namespace kaiseki
