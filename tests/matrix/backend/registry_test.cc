// SPDX-License-Identifier: MIT
#include "matrix/backend/registry.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/error.h"
#include "matrix/backend/backend.h"

namespace kaiseki {

TEST_CASE("backends: the CPU is the first, and all names differ") {
  REQUIRE(!backends().empty());
  CHECK(backends()[0]->name == "cpu");
  CHECK(backends()[0]->devices().size() == 1);
  CHECK(backends()[0]->problem().empty());
  std::set<std::string> names;
  for (const BackendEntry* entry : backends()) {
    CHECK(names.emplace(entry->name).second);
    CHECK(&find_backend(entry->name) == entry);
  }
  CHECK(names.contains("opencl"));  // or its stub
}

TEST_CASE("backends: each opens the devices that it lists, or reports why there are none") {
  for (const BackendEntry* entry : backends()) {
    INFO(std::string(entry->name));
    const auto devices = entry->devices();
    CHECK((!devices.empty() || !entry->problem().empty()));
    for (const DeviceInfo& info : devices) {
      CHECK(info.device.backend_name() == entry->name);
      CHECK(Device::of(entry->name, info.device.index()) == info.device);
      CHECK(Device::parse(info.device.name()) == info.device);
      CHECK(&entry->open(info.device.index()) == &info.device.backend());
      CHECK(info.device.info().name == info.name);
    }
    if (entry->name != "cpu") CHECK_THROWS_AS(Device::of(entry->name, 1000), DeviceError);
  }
}

TEST_CASE("backends: an unknown name is an error") {
  CHECK_THROWS_WITH_AS(find_backend("abacus"), "[device] there is no backend 'abacus'",
                       DeviceError);
  CHECK_THROWS_AS(Device::of("abacus"), DeviceError);
}

}  // namespace kaiseki
