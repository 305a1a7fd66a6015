// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "base/error.h"
#include "cli/options.h"
#include "matrix/backend/registry.h"

namespace kaiseki::cli {
namespace {

const BackendEntry& abacus() {
  static const BackendEntry entry{
      "abacus", [](int) -> Backend& { throw DeviceError("[abacus] no beads"); },
      [] { return std::vector<DeviceInfo>(); }, [] { return std::string("[abacus] no beads"); }};
  return entry;
}

std::string device_of(std::string name) {
  std::string words[] = {"kaiseki", "eval", "lenet", "--data", "digits", "--device", name};
  char* pointers[std::size(words)];
  for (size_t i = 0; i < std::size(words); ++i) pointers[i] = words[i].data();
  const auto command = parse_command_line(std::size(words), pointers);
  return std::get<EvalCommand>(*command).device.device;
}

}  // namespace

TEST_CASE("--device accepts the devices of a backend that the program added") {
  CHECK_THROWS_WITH_AS(device_of("abacus"), doctest::Contains("got 'abacus'"), Error);
  add_backend(abacus());
  CHECK(device_of("abacus") == "abacus");
  CHECK(device_of("abacus:3") == "abacus:3");
  CHECK_THROWS_WITH_AS(device_of("abacus:x"), doctest::Contains("abacus, abacus:N or auto"), Error);
  CHECK_THROWS_AS(Device::parse("abacus"), DeviceError);
}

}  // namespace kaiseki::cli
