// SPDX-License-Identifier: MIT
#include "matrix/environment.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "matrix/error.h"

namespace kaiseki {

TEST_CASE("sizes in bytes are read with their units") {
  CHECK(parse_bytes("1000", "X") == 1000);
  CHECK(parse_bytes("512M", "X") == uint64_t{512} << 20);
  CHECK(parse_bytes("2GiB", "X") == uint64_t{2} << 30);
  for (const char* bad : {"", "M", "12Q", "-1", "1.5G", "99999999999G", "0x10"})
    CHECK_THROWS_AS(parse_bytes(bad, "X"), Error);
}

TEST_CASE("a bad variable is an error that names it") {
  setenv("KAISEKI_THREADS", "many", 1);
  CHECK_THROWS_WITH(environment(),
                    "[environment] expected KAISEKI_THREADS from 0 to 1024, got 'many'");
  setenv("KAISEKI_THREADS", "3", 1);
  CHECK(environment().threads == 3);
  unsetenv("KAISEKI_THREADS");
  setenv("KAISEKI_DEVICE_MEMORY", "lots", 1);
  CHECK_THROWS_AS(environment(), Error);
  setenv("KAISEKI_DEVICE_MEMORY", "0M", 1);
  CHECK_THROWS_WITH(
      environment(),
      "[environment] expected KAISEKI_DEVICE_MEMORY over 0 (unset: no limit), got '0M'");
  setenv("KAISEKI_DEVICE_MEMORY", "4M", 1);
  CHECK(environment().device_memory == uint64_t{4} << 20);
  unsetenv("KAISEKI_DEVICE_MEMORY");
}

}  // namespace kaiseki
