// SPDX-License-Identifier: MIT
#include "matrix/memory/pool.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "matrix/error.h"
#include "matrix/tensor.h"

namespace kaiseki {
namespace {

struct CountedMemory : RawMemory {
  void* allocate(uint64_t bytes) override {
    if (bytes > limit) return nullptr;
    ++live;
    return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  }
  void release(void* block) noexcept override {
    --live;
    std::free(block);
  }
  uint64_t limit = ~uint64_t{0};
  int live = 0;
};

}  // namespace

TEST_CASE("released blocks are used again and counted as cached") {
  CountedMemory raw;
  {
    MemoryPool pool("test", raw, {});
    void* a = pool.allocate(1000);
    CHECK(pool.account().in_use >= 1000);
    CHECK(pool.account().in_use < 1200);
    pool.release(a, 1000);
    CHECK(pool.account().in_use == 0);
    CHECK(pool.account().cached >= 1000);
    CHECK(pool.allocate(1000) == a);
    pool.release(a, 1000);
    pool.trim();
    CHECK(pool.account().cached == 0);
    CHECK(raw.live == 0);
    pool.release(pool.allocate(0), 0);
  }
  CHECK(raw.live == 0);
}

TEST_CASE("a budget gives cached blocks back before it refuses, and a refusal changes nothing") {
  CountedMemory raw;
  MemoryPool pool("test", raw, 4096);
  void* a = pool.allocate(2048);
  pool.release(a, 2048);
  void* b = pool.allocate(3072);  // fits only without the cached 2048
  CHECK(pool.account().cached == 0);
  try {
    pool.allocate(2000);
    FAIL("expected OutOfMemory");
  } catch (const OutOfMemory& error) {
    CHECK(error.asked == 2000);
    CHECK(error.used == 3072);
    CHECK(error.cached == 0);
    CHECK(error.budget == 4096);
    CHECK(std::string(error.what()).find("asked for 2.0 KiB, in use 3.0 KiB") != std::string::npos);
  }
  void* c = pool.allocate(1024);
  CHECK(pool.account().peak == 4096);
  pool.release(b, 3072);
  pool.release(c, 1024);
}

TEST_CASE("a device that refuses is asked again after its cache was returned") {
  CountedMemory raw;
  MemoryPool pool("test", raw, {});
  raw.limit = 1024;
  CHECK_THROWS_AS(pool.allocate(4096), OutOfMemory);
  CHECK_THROWS_AS(pool.allocate(~uint64_t{0}), OutOfMemory);
  pool.release(pool.allocate(512), 512);
}

TEST_CASE("tensors obey the device's budget and the process stays usable") {
  MemoryPool& pool = Device::cpu().memory();
  pool.trim();
  pool.set_budget(pool.account().in_use + (1 << 20));
  CHECK_THROWS_AS(Tensor({1 << 20}, DType::f32, Device::cpu()), OutOfMemory);
  Tensor small({1000}, DType::f32, Device::cpu());
  CHECK(small.defined());
  pool.set_budget({});
}

}  // namespace kaiseki
