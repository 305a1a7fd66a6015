// SPDX-License-Identifier: MIT
// Locks of the cache folder. Its other files: program_cache_test.cc, tuning_file_test.cc.
#include "matrix/cache_file.h"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>

#include "tests/support/cache_folder.h"

namespace kaiseki {

TEST_CASE("cache lock: one that is held for long is waited for once, until it is free again") {
  test::CacheFolder folder("locks");
  const auto file = folder.path() / "a.lock";
  const auto seconds_to_take = [&] {
    const auto start = std::chrono::steady_clock::now();
    const CacheLock lock(file);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::optional<CacheLock> holder(file);
  CHECK(seconds_to_take() > 0.9);
  CHECK(seconds_to_take() < 0.9);
  holder.reset();
  CHECK(seconds_to_take() < 0.9);
  holder.emplace(file);
  CHECK(seconds_to_take() > 0.9);
  holder.reset();
  CHECK(seconds_to_take() < 0.9);
}

}  // namespace kaiseki
