// SPDX-License-Identifier: MIT
// Locks of the cache folder. program_cache_test.cc and tune/file_test.cc test its other files.
#include "base/cache_file.h"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>

#include "tests/support/cache_folder.h"

namespace kaiseki {

TEST_CASE("cache lock: a process waits once for a lock that is held for long") {
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
