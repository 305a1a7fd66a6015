// SPDX-License-Identifier: MIT
// Locks of the cache folder. program_cache_test.cc and tune/file_test.cc test its other files.
#include "base/cache_file.h"

#include <doctest/doctest.h>

#include <optional>

#include "base/clock.h"
#include "tests/support/cache_folder.h"

namespace kaiseki {

TEST_CASE("cache lock: a process waits once for a lock that is held for long") {
  test::CacheFolder folder("locks");
  const auto file = folder.path() / "a.lock";
  const auto seconds_to_take = [&] {
    const double start = steady_seconds();
    const CacheLock lock(file);
    return steady_seconds() - start;
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
