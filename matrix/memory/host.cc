// SPDX-License-Identifier: MIT
#include "matrix/memory/host.h"

#include <cstdlib>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "matrix/ceil_div.h"

namespace kaiseki {
namespace {

constexpr uint64_t kLine = 64, kLarge = 4 << 20, kLargePage = 2 << 20;
constexpr uint64_t kSmallestPage = 4 << 10;

}  // namespace

void* allocate_host(uint64_t bytes) noexcept {
  const bool large = bytes >= kLarge;
  void* block = nullptr;
  if (bytes > SIZE_MAX || posix_memalign(&block, large ? kLargePage : kLine, bytes) != 0)
    return nullptr;
#ifdef MADV_HUGEPAGE
  if (large) madvise(block, bytes, MADV_HUGEPAGE);  // a hint that the system may ignore
#endif
  return block;
}

void release_host(void* block) noexcept { std::free(block); }

void touch_host(void* block, uint64_t bytes) noexcept {
  auto* at = static_cast<volatile char*>(block);
  for (uint64_t i = 0; i < bytes; i += kSmallestPage) at[i] = 0;
}

#if defined(__SANITIZE_ADDRESS__)
#define KAISEKI_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KAISEKI_ASAN 1
#endif
#endif

#if defined(__linux__) && !defined(KAISEKI_ASAN)
bool can_discard_host() noexcept { return true; }

void discard_host(void* part, uint64_t bytes) noexcept {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const auto start = reinterpret_cast<uintptr_t>(part);
  const uintptr_t first = round_up(start, page), last = (start + bytes) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}
#else
bool can_discard_host() noexcept { return false; }
void discard_host(void*, uint64_t) noexcept {}
#endif

float* Scratch::reserve(int64_t count) {
  if (count > capacity_) {
    data_.reset();
    capacity_ = 0;
    data_.reset(static_cast<float*>(allocate_host(static_cast<uint64_t>(count) * sizeof(float))));
    if (!data_) throw std::bad_alloc();
    capacity_ = count;
  }
  return data_.get();
}

}  // namespace kaiseki
