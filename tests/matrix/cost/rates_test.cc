// SPDX-License-Identifier: MIT
#include "matrix/cost/rates.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "matrix/memory/allocator.h"
#include "matrix/memory/spill.h"
#include "matrix/tune/file.h"
#include "tests/support/cache_folder.h"
#include "tests/support/devices.h"
#include "tests/support/simulated_link.h"
#include "tests/support/tune_policy.h"

namespace kaiseki {
namespace {

constexpr double kLeast = 1e6;  // of any device

void check_plausible(const DeviceRates& rates) {
  CHECK(rates.multiply_adds > kLeast);
  CHECK(rates.bytes > kLeast);
  if (!rates.link) return;
  CHECK(rates.link->to_host > kLeast);
  CHECK(rates.link->to_device > kLeast);
}

}  // namespace

TEST_CASE("device rates: a policy without measurements gives fixed rates") {
  test::WithTunePolicy policy({TuneMode::off});
  const DeviceRates rates = device_rates(Device::cpu());
  check_plausible(rates);
  CHECK(rates.multiply_adds == device_rates(Device::cpu()).multiply_adds);
  CHECK_FALSE(rates.link);  // no folder for files, so nothing leaves the CPU
}

TEST_CASE("device rates: they are measured once, and kept") {
  for (Device device : test::all_devices()) {
    CAPTURE(device.name());
    test::WithTunePolicy policy({TuneMode::hybrid});
    const DeviceRates first = device_rates(device);
    check_plausible(first);
    const DeviceRates again = device_rates(device);
    CHECK(again.multiply_adds == doctest::Approx(first.multiply_adds).epsilon(1e-5));
    CHECK(again.bytes == doctest::Approx(first.bytes).epsilon(1e-5));
    CHECK(again.link.has_value() == !device.is_cpu());
  }
}

TEST_CASE("device rates: a kept rate that is far from the measured one is replaced") {
  const test::CacheFolder folder("rates");
  const Device device = Device::cpu();
  const TuningKey key = tuning_key(device.info(), "rates", "per second");
  const auto kept = [&] {
    for (const TuningResult& one : recall_tuning(key))
      if (one.candidate == "bytes") return 1e12 / one.milliseconds;
    return 0.0;
  };
  const auto keep = [&](double rate) {
    remember_tuning(key, {{.candidate = "bytes", .milliseconds = 1e12 / rate}});
    forget_measurements();
  };
  keep(7);
  {
    test::WithTunePolicy policy({TuneMode::cached});
    CHECK(device_rates(device).bytes == doctest::Approx(7));
    CHECK(kept() == doctest::Approx(7));
  }
  test::WithTunePolicy policy({TuneMode::hybrid});
  const double measured = device_rates(device).bytes;
  CHECK(measured > kLeast);
  CHECK(kept() == doctest::Approx(measured));
}

TEST_CASE("device rates: the link of the CPU is its store") {
  const test::CacheFolder folder("link rates");
  const test::SimulatedLink link(5e8);
  test::WithTunePolicy policy({TuneMode::hybrid});
  const DeviceRates rates = device_rates(Device::cpu());
  REQUIRE(rates.link);
  for (const double rate : {rates.link->to_host, rates.link->to_device}) {
    CHECK(rate <= 5e8);
    CHECK(rate > 5e7);  // other programs may take the processor in between
  }
}

TEST_CASE("device rates: the rates of files are those of the disk") {
  const test::CacheFolder folder("file rates");
  set_spill_folder(std::filesystem::temp_directory_path());
  {
    test::WithTunePolicy policy({TuneMode::hybrid});
    const DeviceRates rates = device_rates(Device::cpu());
    REQUIRE(rates.link);
    check_plausible(rates);
    CHECK(rates.link->overlaps);
  }
  set_spill_folder({});
}

TEST_CASE("device rates: without memory for a measurement, they are fixed") {
  test::WithTunePolicy policy({TuneMode::exhaustive});
  Allocator& memory = Device::cpu().memory();
  memory.trim();
  memory.set_budget(memory.account().in_use + (uint64_t{1} << 16));
  const DeviceRates rates = device_rates(Device::cpu());
  memory.set_budget({});
  check_plausible(rates);
}

TEST_CASE("device rates: a test can set them") {
  set_device_rates(DeviceRates{.multiply_adds = 7, .bytes = 8});
  CHECK(device_rates(Device::cpu()).multiply_adds == 7);
  set_device_rates({});
  CHECK(device_rates(Device::cpu()).multiply_adds != 7);
}

}  // namespace kaiseki
