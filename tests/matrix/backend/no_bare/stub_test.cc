// SPDX-License-Identifier: MIT
// A build without the bare backend links a generated stub.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/error.h"
#include "matrix/backend/registry.h"

namespace kaiseki {

TEST_CASE("a stub has no devices, and says why") {
  const std::string reason = "[bare] this build of Kaiseki has no backend bare";
  CHECK(backends().back()->name == "bare");
  CHECK(backends().back()->devices().empty());
  CHECK(names_device("bare:0"));
  CHECK_THROWS_WITH_AS(Device::of("bare"), reason.c_str(), DeviceError);
  CHECK_THROWS_WITH_AS(Device::parse("bare:0"), reason.c_str(), DeviceError);
  const auto problems = device_problems();
  CHECK(std::ranges::find(problems, reason) != problems.end());
}

}  // namespace kaiseki
