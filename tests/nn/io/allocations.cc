// SPDX-License-Identifier: MIT
// unity: alone
// Replaces operator new to record the largest allocation, for tests of hostile files.
#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/nn/io/damage.h"

namespace {
std::atomic<size_t> largest;
}

namespace kaiseki::test {
size_t largest_allocation() { return largest; }
void reset_largest_allocation() { largest = 0; }
}  // namespace kaiseki::test

void* operator new(size_t bytes) {
  size_t seen = largest;
  while (bytes > seen && !largest.compare_exchange_weak(seen, bytes)) {
  }
  if (void* block = std::malloc(bytes ? bytes : 1)) return block;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
void operator delete[](void* block, size_t) noexcept { std::free(block); }
