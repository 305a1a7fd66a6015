// SPDX-License-Identifier: MIT
#include "matrix/memory/host.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <new>

TEST_CASE("host memory: aligned at every size, and null if there is not enough") {
  for (uint64_t bytes :
       {uint64_t{1}, uint64_t{63}, uint64_t{3} << 20, uint64_t{4} << 20, (uint64_t{5} << 20) + 1}) {
    void* block = kaiseki::allocate_host(bytes);
    REQUIRE(block);
    CHECK(reinterpret_cast<uintptr_t>(block) % (bytes < 4 << 20 ? 64 : 2 << 20) == 0);
    std::memset(block, 1, bytes);
    kaiseki::release_host(block);
  }
  CHECK(kaiseki::allocate_host(uint64_t{1} << 62) == nullptr);
}

TEST_CASE("host memory: scratch grows, is kept, and survives a failed request") {
  kaiseki::Scratch scratch;
  float* first = scratch.reserve(100);
  first[99] = 1;
  CHECK(scratch.reserve(50) == first);
  CHECK_THROWS_AS(scratch.reserve(int64_t{1} << 60), std::bad_alloc);
  float* again = scratch.reserve(10);
  REQUIRE(again);
  again[9] = 2;
}
