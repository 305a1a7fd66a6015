// SPDX-License-Identifier: MIT
#include "base/busy_time.h"

#include <doctest/doctest.h>

namespace kaiseki {

TEST_CASE("busy time: it is the sum of what a device adds") {
  CHECK_FALSE(busy_seconds("test:0"));
  add_busy_seconds("test:0", 0);
  CHECK(busy_seconds("test:0") == 0);
  add_busy_seconds("test:0", 1.5);
  add_busy_seconds("test:1", 4);
  add_busy_seconds("test:0", 0.25);
  CHECK(busy_seconds("test:0") == 1.75);
  CHECK(busy_seconds("test:1") == 4);
}

TEST_CASE("busy time: it is measured while one measurement exists") {
  CHECK_FALSE(busy_time_is_measured());
  {
    const BusyTimeMeasurement one;
    { const BusyTimeMeasurement two; }
    CHECK(busy_time_is_measured());
  }
  CHECK_FALSE(busy_time_is_measured());
}

}  // namespace kaiseki
