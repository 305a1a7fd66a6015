// SPDX-License-Identifier: MIT
#include "matrix/cost/rates.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "matrix/tune/file.h"
#include "tests/support/cache_folder.h"
#include "tests/support/devices.h"
#include "tests/support/memory_room.h"
#include "tests/support/tune_policy.h"

namespace kaiseki {
namespace {

constexpr double kLeast = 1e6;  // of any device

void check_plausible(const DeviceRates& rates) {
  CHECK(rates.multiply_adds > kLeast);
  CHECK(rates.bytes > kLeast);
  CHECK(rates.start > 0);
  CHECK(rates.start < 0.1);
  if (!rates.link) return;
  CHECK(rates.link->to_host > kLeast);
  CHECK(rates.link->to_device > kLeast);
  CHECK(rates.link->copy > 0);
  CHECK(rates.link->copy < 0.1);
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

TEST_CASE("device rates: without memory for a measurement, they are fixed") {
  test::WithTunePolicy policy({TuneMode::exhaustive});
  const test::WithRoom room(Device::cpu(), uint64_t{1} << 16);
  check_plausible(device_rates(Device::cpu()));
}

TEST_CASE("device rates: a test can set them") {
  set_device_rates(DeviceRates{.multiply_adds = 7, .bytes = 8});
  CHECK(device_rates(Device::cpu()).multiply_adds == 7);
  set_device_rates({});
  CHECK(device_rates(Device::cpu()).multiply_adds != 7);
}

}  // namespace kaiseki
