// SPDX-License-Identifier: MIT
#include "matrix/memory/allocator.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "matrix/memory/out_of_core.h"
#include "matrix/memory/workspace.h"
#include "matrix/ops/conv.h"
#include "matrix/ops/reduce.h"
#include "matrix/random.h"
#include "matrix/tensor.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"
#include "tests/support/slow.h"

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

/// Overwrites discarded memory, so that a later use shows.
struct DivisibleMemory : CountedMemory {
  std::optional<BlockDivision> division() const override { return BlockDivision{.discards = true}; }
  void discard(void* part, uint64_t bytes) noexcept override {
    std::memset(part, 0xEE, bytes);
    ++discards;
  }
  int discards = 0;
};

constexpr uint64_t kMega = 1 << 20;

}  // namespace

TEST_CASE("released blocks are reused and counted as cached") {
  CountedMemory raw;
  {
    Allocator allocator("test", raw, {});
    void* a = allocator.allocate(1000);
    CHECK(allocator.account().in_use >= 1000);
    CHECK(allocator.account().in_use < 1200);
    allocator.release(a, 1000);
    CHECK(allocator.account().in_use == 0);
    CHECK(allocator.account().cached >= 1000);
    CHECK(allocator.allocate(1000) == a);
    allocator.release(a, 1000);
    allocator.trim();
    CHECK(allocator.account().cached == 0);
    CHECK(raw.live == 0);
    allocator.release(allocator.allocate(0), 0);
  }
  CHECK(raw.live == 0);
}

TEST_CASE("large blocks are divided as requested and joined again") {
  DivisibleMemory raw;
  {
    Allocator allocator("test", raw, {});
    auto* whole = static_cast<char*>(allocator.allocate(8 * kMega));
    allocator.release(whole, 8 * kMega);
    auto* a = static_cast<char*>(allocator.allocate(3 * kMega));
    auto* b = static_cast<char*>(allocator.allocate(2 * kMega));
    auto* c = static_cast<char*>(allocator.allocate(3 * kMega));
    CHECK((a == whole && b == a + 3 * kMega && c == b + 2 * kMega));
    CHECK((raw.live == 1 && allocator.account().cached == 0));
    allocator.release(a, 3 * kMega);
    allocator.release(c, 3 * kMega);
    CHECK(allocator.allocate(2 * kMega) == a);  // the rest of the block stays separate
    allocator.release(b, 2 * kMega);
    CHECK(allocator.account().cached == 6 * kMega);
    CHECK(allocator.allocate(6 * kMega) == a + 2 * kMega);
    CHECK(raw.live == 1);
    void* small = allocator.allocate(1000);  // has its own block
    CHECK(raw.live == 2);
    allocator.release(small, 1000);
    allocator.release(a, 2 * kMega);
    allocator.release(a + 2 * kMega, 6 * kMega);
    CHECK(allocator.allocate(8 * kMega) == whole);
    allocator.release(whole, 8 * kMega);
    allocator.trim();
    CHECK((raw.live == 0 && raw.discards == 0));
  }
}

TEST_CASE("under a budget, free parts next to a part in use are returned too") {
  DivisibleMemory raw;
  Allocator allocator("test", raw, 10 * kMega);
  auto* whole = static_cast<char*>(allocator.allocate(8 * kMega));
  allocator.release(whole, 8 * kMega);
  void* pin = allocator.allocate(kMega);
  CHECK(pin == whole);
  void* large = allocator.allocate(9 * kMega);  // 1 + 9; the 7 next to them have no memory
  CHECK((raw.discards == 1 && allocator.account().cached == 0 && raw.live == 2));
  // There are addresses, but no memory.
  CHECK_THROWS_AS(allocator.allocate(2 * kMega), OutOfMemory);
  CHECK(allocator.account().in_use == 10 * kMega);
  allocator.release(large, 9 * kMega);
  void* next = allocator.allocate(9 * kMega);
  CHECK(next == large);
  allocator.release(next, 9 * kMega);
  allocator.trim();
  CHECK(allocator.allocate(7 * kMega) == whole + kMega);  // from the addresses that were kept
  CHECK(raw.live == 1);
  allocator.release(whole + kMega, 7 * kMega);
  allocator.release(pin, kMega);
  CHECK(allocator.account().cached == 8 * kMega);
  allocator.trim();
  CHECK(raw.live == 0);
}

TEST_CASE("under a budget, only the memory that is in the way is returned") {
  DivisibleMemory raw;
  Allocator allocator("test", raw, 12 * kMega);
  std::vector<void*> parts;
  auto* whole = static_cast<char*>(allocator.allocate(10 * kMega));
  allocator.release(whole, 10 * kMega);
  for (const uint64_t size : {1, 2, 1, 3, 1, 2}) parts.push_back(allocator.allocate(size * kMega));
  allocator.release(parts[1], 2 * kMega);
  allocator.release(parts[3], 3 * kMega);
  allocator.release(parts[5], 2 * kMega);
  CHECK(allocator.account().cached == 7 * kMega);
  void* large = allocator.allocate(4 * kMega);  // 3 + 4 are in use, so 2 must go
  CHECK(raw.discards == 1);
  CHECK(allocator.account().cached == 5 * kMega);
  CHECK(allocator.account().in_use + allocator.account().cached == 12 * kMega);
  CHECK(allocator.allocate(3 * kMega) == parts[3]);  // it still has its memory
  CHECK(raw.discards == 1);
  allocator.release(parts[3], 3 * kMega);
  allocator.release(large, 4 * kMega);
  for (const size_t i : {0, 2, 4}) allocator.release(parts[i], kMega);
  allocator.trim();
  CHECK((raw.live == 0 && allocator.account().cached == 0));
}

TEST_CASE("under a budget, a part that was freed is used again with its memory") {
  DivisibleMemory raw;
  Allocator allocator("test", raw, 12 * kMega);
  auto* whole = static_cast<char*>(allocator.allocate(10 * kMega));
  allocator.release(whole, 10 * kMega);
  void* pin = allocator.allocate(kMega);
  allocator.trim();
  CHECK(raw.discards == 1);
  void* first = allocator.allocate(2 * kMega);
  for (int i = 0; i < 5; ++i) {
    allocator.release(first, 2 * kMega);
    CHECK(allocator.allocate(2 * kMega) == first);
  }
  CHECK(raw.discards == 1);
  allocator.release(first, 2 * kMega);
  allocator.release(pin, kMega);
}

TEST_CASE("a small returned part does not take the memory of its neighbors") {
  DivisibleMemory raw;
  Allocator allocator("test", raw, {});
  auto* whole = static_cast<char*>(allocator.allocate(8 * kMega));
  allocator.release(whole, 8 * kMega);
  void* a = allocator.allocate(4 * kMega);
  void* b = allocator.allocate(4 * kMega - 1024);  // 1 KiB of `whole` is left
  allocator.trim();
  CHECK(raw.discards == 1);
  for (int i = 0; i < 10; ++i) {
    allocator.release(b, 4 * kMega - 1024);
    CHECK(allocator.allocate(4 * kMega - 1024) == b);
  }
  CHECK(raw.discards == 1);
  allocator.release(a, 4 * kMega);
  allocator.release(b, 4 * kMega - 1024);
  allocator.trim();
  CHECK((raw.live == 0 && allocator.account().cached == 0));
}

TEST_CASE("after random divisions and joins, no block overlaps another and the account is right") {
  for (const uint64_t budget : {uint64_t{0}, 48 * kMega}) {
    CAPTURE(budget);
    DivisibleMemory raw;
    {
      Allocator allocator("test", raw, budget ? std::optional(budget) : std::nullopt);
      struct Block {
        uint64_t* at;
        uint64_t bytes, mark;
      };
      std::vector<Block> blocks;
      Random random(5);
      uint64_t refused = 0, in_use = 0;
      constexpr uint64_t kSteps = KAISEKI_SLOW ? 4'000 : 20'000;
      for (uint64_t i = 1; i <= kSteps; ++i) {
        if (blocks.size() < 24 && random.below(2)) {
          const uint64_t bytes = (1 + random.below(random.below(4) ? 16 : 2)) * 313'600;
          try {
            auto* at = static_cast<uint64_t*>(allocator.allocate(bytes));
            for (uint64_t k = 0; k < bytes / 8; k += 64) at[k] = i + k;
            at[bytes / 8 - 1] = i;
            blocks.push_back({at, bytes, i});
            in_use += (bytes + 255) / 256 * 256;
          } catch (const OutOfMemory&) {
            ++refused;
            REQUIRE(budget);
            REQUIRE(in_use + bytes > budget);  // only memory in use may prevent the allocation
          }
        } else if (!blocks.empty()) {
          std::swap(blocks[random.below(blocks.size())], blocks.back());
          const Block block = blocks.back();
          blocks.pop_back();
          bool whole = block.at[block.bytes / 8 - 1] == block.mark;
          for (uint64_t k = 0; k + 64 < block.bytes / 8; k += 64)
            whole = whole && block.at[k] == block.mark + k;
          REQUIRE(whole);
          allocator.release(block.at, block.bytes);
          in_use -= (block.bytes + 255) / 256 * 256;
        }
        if (i % 997 == 0) allocator.trim();
        REQUIRE(allocator.account().in_use == in_use);
        if (budget) REQUIRE(allocator.account().peak <= budget);
      }
      CHECK((refused > 0) == (budget > 0));
      CHECK(raw.discards > 10);
      for (const Block& block : blocks) allocator.release(block.at, block.bytes);
      allocator.trim();
      CHECK((allocator.account().cached == 0 && raw.live == 0));
    }
  }
}

TEST_CASE("under a budget, the cache is freed before a refusal, and a refusal changes nothing") {
  CountedMemory raw;
  Allocator allocator("test", raw, 4096);
  void* a = allocator.allocate(2048);
  allocator.release(a, 2048);
  void* b = allocator.allocate(3072);  // fits only after the cached 2048 are freed
  CHECK(allocator.account().cached == 0);
  try {
    allocator.allocate(2000);
    FAIL("expected OutOfMemory");
  } catch (const OutOfMemory& error) {
    CHECK(error.bytes.asked == 2048);  // as the allocator rounds it
    CHECK(error.bytes.used == 3072);
    CHECK(error.bytes.cached == 0);
    CHECK(error.bytes.budget == 4096);
    CHECK(std::string(error.what()).find("asked for 2.0 KiB, in use 3.0 KiB") != std::string::npos);
  }
  void* c = allocator.allocate(1024);
  CHECK(allocator.account().peak == 4096);
  allocator.release(b, 3072);
  allocator.release(c, 1024);
}

TEST_CASE("if the device refuses, it is asked again after the cache is freed") {
  CountedMemory raw;
  Allocator allocator("test", raw, {});
  raw.most_live = 1;
  allocator.release(allocator.allocate(512), 512);
  CHECK(allocator.account().cached == 512);
  void* other = allocator.allocate(1024);  // refused while the 512 are in use
  CHECK(raw.refusals == 1);
  CHECK(allocator.account().cached == 0);
  CHECK_THROWS_AS(allocator.allocate(512), OutOfMemory);
  CHECK(raw.refusals == 2);  // nothing was cached, so it was not asked again
  allocator.release(other, 1024);
  CHECK_THROWS_AS(allocator.allocate(~uint64_t{0}), OutOfMemory);
  allocator.release(allocator.allocate(512), 512);
}

TEST_CASE("a wholly free block is released before the device's refusal counts") {
  DivisibleMemory raw;
  Allocator allocator("test", raw, {});
  allocator.release(allocator.allocate(2 * kMega), 2 * kMega);
  void* a = allocator.allocate(kMega);
  allocator.trim();
  allocator.release(a, kMega);  // next to as much memory that was already returned
  CHECK(allocator.account().cached == kMega);
  CHECK(raw.live == 1);
  raw.most_live = 1;
  void* larger = allocator.allocate(3 * kMega);
  CHECK(raw.refusals == 1);
  CHECK(raw.live == 1);
  allocator.release(larger, 3 * kMega);
}

TEST_CASE("the workspace is asked again only if it released something") {
  CountedMemory raw;
  Allocator allocator("test", raw, 4096);
  void* workspace = allocator.allocate_unused(3072);
  int asked = 0;
  allocator.set_release_for_tensors([&] {
    ++asked;
    return false;
  });
  CHECK_THROWS_AS(allocator.allocate(2048), OutOfMemory);
  CHECK(asked == 1);
  allocator.reclaim();
  CHECK(asked == 2);
  allocator.set_release_for_tensors([&] {
    if (++asked == 4) allocator.release_unused(workspace, 3072);
    return true;
  });
  allocator.release(allocator.allocate(2048), 2048);
  CHECK(asked == 4);
}

TEST_CASE("the workspace leaves the system its memory, and tensors allocate as without it") {
  CountedMemory raw;
  Allocator allocator("test", raw, {});
  raw.left = 4096;
  CHECK(allocator.allocate_unused(8192) == nullptr);
  raw.commits = false;
  CHECK(allocator.allocate_unused(1024) == nullptr);
  CHECK(raw.live == 0);
  CHECK(allocator.account().workspace == 0);
  raw.commits = true;
  raw.committed = 0;
  void* workspace = allocator.allocate_unused(2048);
  REQUIRE(workspace);
  CHECK(raw.committed == 2048);  // so that no tensor is promised the same memory
  int asked = 0;
  allocator.set_release_for_tensors([&] {
    ++asked;
    allocator.release_unused(workspace, 2048);
    return true;
  });
  raw.left = 1024;
  void* small = allocator.allocate(512);
  CHECK(asked == 0);
  void* large = allocator.allocate(2048);
  CHECK(asked == 1);
  void* more = allocator.allocate(4096);
  CHECK(asked == 1);
  CHECK(raw.committed == 2048);
  allocator.release(small, 512);
  allocator.release(large, 2048);
  allocator.release(more, 4096);
}

TEST_CASE("a workspace that cannot be released fails tensors only under a budget") {
  DivisibleMemory raw;
  Allocator allocator("test", raw, {});
  void* workspace = allocator.allocate_unused(2 * kMega);
  allocator.set_release_for_tensors([] { return false; });  // as during a long convolution
  raw.left = 0;
  for (const uint64_t bytes : {uint64_t{1024}, kMega}) {
    CAPTURE(bytes);
    raw.asked = 0;
    void* tensor = allocator.allocate(bytes);
    CHECK(raw.asked == 2);  // once for each time that there may be room
    allocator.release(tensor, bytes);
    allocator.set_budget(2 * kMega);
    CHECK_THROWS_AS(allocator.allocate(2 * bytes), OutOfMemory);
    allocator.set_budget({});
    allocator.trim();
    raw.most_live = 1;
    CHECK_THROWS_AS(allocator.allocate(bytes), OutOfMemory);
    raw.most_live = 1000;
  }
  allocator.release_unused(workspace, 2 * kMega);
}

TEST_CASE("the message of a refusal matches the request") {
  CountedMemory raw;
  Allocator allocator("test", raw, 1000000);
  CHECK_THROWS_WITH_AS(allocator.allocate(1000000),
                       "[memory] test is out of memory: asked for 1.0 MiB, in use 0 B, cached 0 B, "
                       "budget 976.6 KiB, missing 47.4 KiB; use a smaller batch or a larger "
                       "KAISEKI_DEVICE_MEMORY",
                       OutOfMemory);
  allocator.set_budget({});
  raw.most_live = 0;
  CHECK_THROWS_WITH_AS(
      allocator.allocate(64),
      "[memory] test is out of memory: asked for 64 B, in use 0 B, cached 0 B; use "
      "a smaller batch",
      OutOfMemory);
}

TEST_CASE("tensors respect the device's budget, and the process stays usable") {
  Allocator& allocator = Device::cpu().memory();
  allocator.trim();
  allocator.set_budget(allocator.account().in_use + (1 << 20));
  CHECK_THROWS_AS(Tensor({1 << 20}, DType::f32, Device::cpu()), OutOfMemory);
  Tensor small({1000}, DType::f32, Device::cpu());
  CHECK(small.defined());
  allocator.set_budget({});
  Device::cpu().workspace().set_limit({});  // it may have been released
}

TEST_CASE("a device throws when its budget shrinks during work, and works again without it") {
  test::for_each_device([](Device device) {
    Tensor x = test::random_tensor({8, 16, 32, 32}, 1, device),
           filter = test::random_tensor({16, 16, 3, 3}, 2, device);
    auto twice = [&] {
      Tensor y({8, 16, 30, 30}, DType::f32, device), z({8, 16, 28, 28}, DType::f32, device);
      conv2d_into(y, x, filter, {});
      conv2d_into(z, y, filter, {});
      return sum(z).item();
    };
    device.workspace().set_limit({});  // an earlier test may have released it
    const float expected = twice();
    Allocator& allocator = device.memory();
    allocator.trim();
    const uint64_t before = allocator.account().in_use;
    set_out_of_core(OutOfCore::off);
    allocator.set_budget(before + (400 << 10));
    try {
      twice();
      FAIL("expected OutOfMemory");
    } catch (const OutOfMemory& error) {
      CHECK(error.bytes.used >= before);
      CHECK(error.bytes.budget == before + (400 << 10));
      CHECK(std::string(error.what()).find("asked for") != std::string::npos);
    }
    CHECK(allocator.account().in_use == before);
    set_out_of_core(OutOfCore::automatic);
    allocator.set_budget({});
    device.workspace().set_limit({});  // it was released; other solvers would add in another order
    CHECK(twice() == expected);
  });
}

}  // namespace kaiseki
