// SPDX-License-Identifier: MIT
#include "matrix/memory/pool.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "matrix/error.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/conv.h"
#include "matrix/ops/reduce.h"
#include "matrix/random.h"
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
  uint64_t available() const override {
    ++asked;
    return left;
  }
  bool commit(void*, uint64_t bytes) noexcept override {
    committed += bytes;
    return commits;
  }
  bool commits = true;
  int most_live = 1000, live = 0, refusals = 0;
  uint64_t left = UINT64_MAX, committed = 0;
  mutable int asked = 0;
};

/// What is discarded is overwritten, so that nobody can go on using it.
struct DivisibleMemory : CountedMemory {
  bool divisible() const override { return true; }
  void discard(void* part, uint64_t bytes) noexcept override {
    std::memset(part, 0xEE, bytes);
    ++discards;
  }
  int discards = 0;
};

constexpr uint64_t kMega = 1 << 20;

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

TEST_CASE("large blocks are cut to what is asked for and joined again") {
  DivisibleMemory raw;
  {
    MemoryPool pool("test", raw, {});
    auto* whole = static_cast<char*>(pool.allocate(8 * kMega));
    pool.release(whole, 8 * kMega);
    auto* a = static_cast<char*>(pool.allocate(3 * kMega));
    auto* b = static_cast<char*>(pool.allocate(2 * kMega));
    auto* c = static_cast<char*>(pool.allocate(3 * kMega));
    CHECK((a == whole && b == a + 3 * kMega && c == b + 2 * kMega));
    CHECK((raw.live == 1 && pool.account().cached == 0));
    pool.release(a, 3 * kMega);
    pool.release(c, 3 * kMega);
    CHECK(pool.allocate(2 * kMega) == a);  // the rest of it stays apart
    pool.release(b, 2 * kMega);
    CHECK(pool.account().cached == 6 * kMega);
    CHECK(pool.allocate(6 * kMega) == a + 2 * kMega);
    CHECK(raw.live == 1);
    void* small = pool.allocate(1000);  // has a block of its own
    CHECK(raw.live == 2);
    pool.release(small, 1000);
    pool.release(a, 2 * kMega);
    pool.release(a + 2 * kMega, 6 * kMega);
    CHECK(pool.allocate(8 * kMega) == whole);
    pool.release(whole, 8 * kMega);
    pool.trim();
    CHECK((raw.live == 0 && raw.discards == 0));
  }
}

TEST_CASE("under a budget, free parts beside a part in use are given back too") {
  DivisibleMemory raw;
  MemoryPool pool("test", raw, 10 * kMega);
  auto* whole = static_cast<char*>(pool.allocate(8 * kMega));
  pool.release(whole, 8 * kMega);
  void* pin = pool.allocate(kMega);
  CHECK(pin == whole);
  void* large = pool.allocate(9 * kMega);  // 1 + 9, and the 7 beside are nobody's
  CHECK((raw.discards == 1 && pool.account().cached == 0 && raw.live == 2));
  CHECK_THROWS_AS(pool.allocate(2 * kMega), OutOfMemory);  // addresses there are, memory not
  CHECK(pool.account().in_use == 10 * kMega);
  pool.release(large, 9 * kMega);
  void* next = pool.allocate(9 * kMega);
  CHECK(next == large);
  pool.release(next, 9 * kMega);
  pool.trim();
  CHECK(pool.allocate(7 * kMega) == whole + kMega);  // of the addresses that were kept
  CHECK(raw.live == 1);
  pool.release(whole + kMega, 7 * kMega);
  pool.release(pin, kMega);
  CHECK(pool.account().cached == 8 * kMega);
  pool.trim();
  CHECK(raw.live == 0);
}

TEST_CASE("a small part that was given back does not cost its neighbours their memory") {
  DivisibleMemory raw;
  MemoryPool pool("test", raw, {});
  auto* whole = static_cast<char*>(pool.allocate(8 * kMega));
  pool.release(whole, 8 * kMega);
  void* a = pool.allocate(4 * kMega);
  void* b = pool.allocate(4 * kMega - 1024);  // and 1 KiB is left
  pool.trim();
  CHECK(raw.discards == 1);
  for (int i = 0; i < 10; ++i) {
    pool.release(b, 4 * kMega - 1024);
    CHECK(pool.allocate(4 * kMega - 1024) == b);
  }
  CHECK(raw.discards == 1);
  pool.release(a, 4 * kMega);
  pool.release(b, 4 * kMega - 1024);
  pool.trim();
  CHECK((raw.live == 0 && pool.account().cached == 0));
}

TEST_CASE("cut and joined at random, no block overlaps another and the account is right") {
  for (const uint64_t budget : {uint64_t{0}, 48 * kMega}) {
    CAPTURE(budget);
    DivisibleMemory raw;
    {
      MemoryPool pool("test", raw, budget ? std::optional(budget) : std::nullopt);
      struct Block {
        uint64_t* at;
        uint64_t bytes, mark;
      };
      std::vector<Block> blocks;
      Random random(5);
      uint64_t refused = 0, in_use = 0;
      for (uint64_t i = 1; i <= 20'000; ++i) {
        if (blocks.size() < 24 && random.below(2)) {
          const uint64_t bytes = (1 + random.below(random.below(4) ? 16 : 2)) * 313'600;
          try {
            auto* at = static_cast<uint64_t*>(pool.allocate(bytes));
            for (uint64_t k = 0; k < bytes / 8; k += 64) at[k] = i + k;
            at[bytes / 8 - 1] = i;
            blocks.push_back({at, bytes, i});
            in_use += (bytes + 255) / 256 * 256;
          } catch (const OutOfMemory&) {
            ++refused;
            REQUIRE(budget);
            REQUIRE(in_use + bytes > budget);  // nothing but what is in use stands in the way
          }
        } else if (!blocks.empty()) {
          std::swap(blocks[random.below(blocks.size())], blocks.back());
          const Block block = blocks.back();
          blocks.pop_back();
          bool whole = block.at[block.bytes / 8 - 1] == block.mark;
          for (uint64_t k = 0; k + 64 < block.bytes / 8; k += 64)
            whole = whole && block.at[k] == block.mark + k;
          REQUIRE(whole);
          pool.release(block.at, block.bytes);
          in_use -= (block.bytes + 255) / 256 * 256;
        }
        if (i % 997 == 0) pool.trim();
        REQUIRE(pool.account().in_use == in_use);
        if (budget) REQUIRE(pool.account().peak <= budget);
      }
      CHECK((refused > 0) == (budget > 0));
      CHECK(raw.discards > 10);
      for (const Block& block : blocks) pool.release(block.at, block.bytes);
      pool.trim();
      CHECK((pool.account().cached == 0 && raw.live == 0));
    }
  }
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

TEST_CASE("a block that is all free without memory goes before the device's refusal is believed") {
  DivisibleMemory raw;
  MemoryPool pool("test", raw, {});
  pool.release(pool.allocate(2 * kMega), 2 * kMega);
  void* a = pool.allocate(kMega);
  pool.trim();
  pool.release(a, kMega);  // beside as much that was given back
  CHECK(pool.account().cached == 0);
  CHECK(raw.live == 1);
  raw.most_live = 1;
  void* larger = pool.allocate(3 * kMega);
  CHECK(raw.refusals == 1);
  CHECK(raw.live == 1);
  pool.release(larger, 3 * kMega);
}

TEST_CASE("what gives way is asked again only when it gave") {
  CountedMemory raw;
  MemoryPool pool("test", raw, 4096);
  void* workspace = pool.allocate_unused(3072);
  int asked = 0;
  pool.set_give_way([&] {
    ++asked;
    return false;
  });
  CHECK_THROWS_AS(pool.allocate(2048), OutOfMemory);
  CHECK(asked == 1);
  pool.reclaim();
  CHECK(asked == 2);
  pool.set_give_way([&] {
    if (++asked == 4) pool.release_unused(workspace, 3072);
    return true;
  });
  pool.release(pool.allocate(2048), 2048);
  CHECK(asked == 4);
}

TEST_CASE("what gives way leaves the system its memory, and tensors alone take it as without") {
  CountedMemory raw;
  MemoryPool pool("test", raw, {});
  raw.left = 4096;
  CHECK(pool.allocate_unused(8192) == nullptr);
  raw.commits = false;
  CHECK(pool.allocate_unused(1024) == nullptr);
  CHECK(raw.live == 0);
  CHECK(pool.account().workspace == 0);
  raw.commits = true;
  raw.committed = 0;
  void* workspace = pool.allocate_unused(2048);
  REQUIRE(workspace);
  CHECK(raw.committed == 2048);  // so that no tensor is promised the same
  int asked = 0;
  pool.set_give_way([&] {
    ++asked;
    pool.release_unused(workspace, 2048);
    return true;
  });
  raw.left = 1024;
  void* small = pool.allocate(512);
  CHECK(asked == 0);
  void* large = pool.allocate(2048);
  CHECK(asked == 1);
  void* more = pool.allocate(4096);
  CHECK(asked == 1);
  CHECK(raw.committed == 2048);
  pool.release(small, 512);
  pool.release(large, 2048);
  pool.release(more, 4096);
}

TEST_CASE("what cannot give way costs no tensor that the device would give, but for a budget") {
  DivisibleMemory raw;
  MemoryPool pool("test", raw, {});
  void* workspace = pool.allocate_unused(2 * kMega);
  pool.set_give_way([] { return false; });  // a long convolution runs with it
  raw.left = 0;
  for (const uint64_t bytes : {uint64_t{1024}, kMega}) {
    CAPTURE(bytes);
    raw.asked = 0;
    void* tensor = pool.allocate(bytes);
    CHECK(raw.asked == 2);  // once for each time that there may be room
    pool.release(tensor, bytes);
    pool.set_budget(2 * kMega);
    CHECK_THROWS_AS(pool.allocate(2 * bytes), OutOfMemory);
    pool.set_budget({});
    pool.trim();
    raw.most_live = 1;
    CHECK_THROWS_AS(pool.allocate(bytes), OutOfMemory);
    raw.most_live = 1000;
  }
  pool.release_unused(workspace, 2 * kMega);
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
