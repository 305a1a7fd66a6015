// SPDX-License-Identifier: MIT
#include "dist/node/speed.h"

#include <doctest/doctest.h>

#include "base/clock.h"
#include "tests/support/devices.h"

namespace kaiseki {
namespace {

double seconds_since(double start) { return steady_seconds() - start; }

TEST_CASE("speed: measures for the given seconds, or until stop() returns true") {
  test::for_each_device([](Device device) {
    const double start = steady_seconds();
    const double gflops = dist::measure_gflops(device, 0.2, [] { return false; });
    CHECK(seconds_since(start) >= 0.2);
    CHECK(gflops > 0.01);
    CHECK(gflops < 1e6);
    int asked = 0;
    CHECK(dist::measure_gflops(device, 1e9, [&] { return ++asked == 2; }) > 0);
    CHECK(asked == 2);
  });
}

}  // namespace
}  // namespace kaiseki
