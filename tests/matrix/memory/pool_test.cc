// SPDX-License-Identifier: MIT
#include "matrix/memory/pool.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "matrix/error.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/conv.h"
#include "matrix/ops/reduce.h"
#include "matrix/tensor.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

namespace kaiseki {
namespace {

struct CountedMemory : RawMemory {
  void* allocate(uint64_t bytes) override {
    if (live >= most_live) {
      ++refusals;
      return nullptr;
    }
    ++live;
    return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  }
  void release(void* block) noexcept override {
    --live;
    std::free(block);
  }
  int most_live = 1000, live = 0, refusals = 0;
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
    CHECK(error.asked == 2048);  // as the pool rounds it
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
  raw.most_live = 1;
  pool.release(pool.allocate(512), 512);
  CHECK(pool.account().cached == 512);
  void* other = pool.allocate(1024);  // refused while the 512 are live
  CHECK(raw.refusals == 1);
  CHECK(pool.account().cached == 0);
  CHECK_THROWS_AS(pool.allocate(512), OutOfMemory);
  CHECK(raw.refusals == 2);  // nothing was cached: not asked again
  pool.release(other, 1024);
  CHECK_THROWS_AS(pool.allocate(~uint64_t{0}), OutOfMemory);
  pool.release(pool.allocate(512), 512);
}

TEST_CASE("the message of a refusal fits what was refused") {
  CountedMemory raw;
  MemoryPool pool("test", raw, 1000000);
  CHECK_THROWS_WITH_AS(pool.allocate(1000000),
                       "[memory] test is out of memory: asked for 1.0 MiB, in use 0 B, cached 0 B, "
                       "budget 976.6 KiB; use a smaller batch or a larger KAISEKI_DEVICE_MEMORY",
                       OutOfMemory);
  pool.set_budget({});
  raw.most_live = 0;
  CHECK_THROWS_WITH_AS(
      pool.allocate(64),
      "[memory] test is out of memory: asked for 64 B, in use 0 B, cached 0 B; use "
      "a smaller batch",
      OutOfMemory);
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

TEST_CASE("a device made small says so in the midst of work, and works again when it is not") {
  test::for_each_device([](Device device) {
    Tensor x = test::random_tensor({8, 16, 32, 32}, 1, device),
           filter = test::random_tensor({16, 16, 3, 3}, 2, device);
    auto twice = [&] {
      Tensor y({8, 16, 30, 30}, DType::f32, device), z({8, 16, 28, 28}, DType::f32, device);
      conv2d(x, filter, nullptr, {}, y);
      conv2d(y, filter, nullptr, {}, z);
      return sum(z).item();
    };
    const float expected = twice();
    MemoryPool& pool = device.memory();
    pool.trim();
    const uint64_t before = pool.account().in_use;
    pool.set_budget(before + (400 << 10));
    try {
      twice();
      FAIL("expected OutOfMemory");
    } catch (const OutOfMemory& error) {
      CHECK(error.used >= before);
      CHECK(error.budget == before + (400 << 10));
      CHECK(std::string(error.what()).find("asked for") != std::string::npos);
    }
    CHECK(pool.account().in_use == before);
    pool.set_budget({});
    device.workspace().set_limit({});  // it gave way: other solvers would add in another order
    CHECK(twice() == expected);
  });
}

}  // namespace kaiseki
