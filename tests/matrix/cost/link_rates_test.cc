// SPDX-License-Identifier: MIT
// The rates of the link over which tensors leave the CPU.
#include <doctest/doctest.h>

#include "matrix/cost/rates.h"
#include "tests/support/cache_folder.h"
#include "tests/support/folder.h"
#include "tests/support/simulated_link.h"
#include "tests/support/spill.h"
#include "tests/support/tune_policy.h"

namespace kaiseki {

TEST_CASE("device rates: the link of the CPU is its store") {
  const test::CacheFolder folder("link rates");
  const test::SimulatedLink link(5e8);
  test::WithTunePolicy policy({TuneMode::hybrid});
  const DeviceRates rates = device_rates(Device::cpu());
  REQUIRE(rates.link);
  for (const double rate : {rates.link->to_host, rates.link->to_device}) {
    CHECK(rate <= 5e8);
    CHECK(rate > 5e7);  // other programs may use the processor during the measurement
  }
  CHECK(rates.link->slows > 0);
  CHECK(rates.link->slows < 1e-5);  // a loaded machine is slower
}

#ifdef __linux__  // no other system has files for tensors
TEST_CASE("device rates: the rates of files are those of the disk") {
  const test::CacheFolder cache("file rates");
  const test::Folder folder;
  const test::WithSpillFolder files(folder.path);
  test::WithTunePolicy policy({TuneMode::hybrid});
  const DeviceRates rates = device_rates(Device::cpu());
  REQUIRE(rates.link);
  for (const double rate : {rates.link->to_host, rates.link->to_device}) CHECK(rate > 1e6);
  CHECK(rates.link->overlaps);
}
#endif

}  // namespace kaiseki
