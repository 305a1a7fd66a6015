// SPDX-License-Identifier: MIT
#include "base/environment.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "base/error.h"

namespace kaiseki {
namespace {

/// Unsets the variable, and restores it at the end.
struct SavedVariable {
  explicit SavedVariable(const char* name) : name(name) {
    if (const char* old = std::getenv(name)) value = old;
    unsetenv(name);
  }
  ~SavedVariable() { value ? setenv(name, value->c_str(), 1) : unsetenv(name); }
  const char* name;
  std::optional<std::string> value;
};

}  // namespace

TEST_CASE("sizes in bytes are parsed with their units") {
  CHECK(parse_bytes("1000", "X") == 1000);
  CHECK(parse_bytes("512M", "X") == uint64_t{512} << 20);
  CHECK(parse_bytes("2GiB", "X") == uint64_t{2} << 30);
  for (const char* bad : {"", "M", "12Q", "-1", "1.5G", "99999999999G", "0x10"})
    CHECK_THROWS_AS(parse_bytes(bad, "X"), Error);
}

TEST_CASE("folders: from Kaiseki's variable, else the XDG variable, else below the home folder") {
  const SavedVariable cache("KAISEKI_CACHE_DIR"), state("KAISEKI_STATE_DIR"),
      xdg_cache("XDG_CACHE_HOME"), xdg_state("XDG_STATE_HOME"), home("HOME");
  setenv("HOME", "/home-of-test", 1);
  CHECK(environment().cache_dir == "/home-of-test/.cache/kaiseki");
  CHECK(environment().state_dir == "/home-of-test/.local/state/kaiseki");
  setenv("XDG_CACHE_HOME", "/x-cache", 1);
  setenv("XDG_STATE_HOME", "/x-state", 1);
  CHECK(environment().cache_dir == "/x-cache/kaiseki");
  CHECK(environment().state_dir == "/x-state/kaiseki");
  setenv("KAISEKI_CACHE_DIR", "/ours", 1);
  setenv("KAISEKI_STATE_DIR", "/our-state", 1);
  CHECK(environment().cache_dir == "/ours");
  CHECK(environment().state_dir == "/our-state");
}

TEST_CASE("the variables of a terminal are optional, and an invalid one is ignored") {
  const SavedVariable color("NO_COLOR"), type("TERM"), all("LC_ALL"), characters("LC_CTYPE"),
      language("LANG"), columns("COLUMNS"), threads("KAISEKI_THREADS");
  setenv("KAISEKI_THREADS", "many", 1);
  CHECK_FALSE(terminal_environment().no_color);
  CHECK(terminal_environment().type == "");
  CHECK(terminal_environment().locale == "");
  setenv("LANG", "C.UTF-8", 1);
  CHECK(terminal_environment().locale == "C.UTF-8");
  setenv("LC_CTYPE", "C", 1);
  setenv("LC_ALL", "", 1);
  CHECK(terminal_environment().locale == "C");
  setenv("TERM", "dumb", 1);
  setenv("NO_COLOR", "1", 1);
  CHECK(terminal_environment().type == "dumb");
  CHECK(terminal_environment().no_color);
  CHECK_FALSE(terminal_environment().columns);
  for (const char* bad : {"", "wide", "0", "-3"}) {
    setenv("COLUMNS", bad, 1);
    CHECK_FALSE(terminal_environment().columns);
  }
  setenv("COLUMNS", "132", 1);
  CHECK(terminal_environment().columns == 132);
}

TEST_CASE("an invalid variable is an error that names it") {
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
  setenv("KAISEKI_HOST_MEMORY", "-1", 1);
  CHECK_THROWS_WITH_AS(environment(), doctest::Contains("KAISEKI_HOST_MEMORY"), Error);
  unsetenv("KAISEKI_HOST_MEMORY");
}

}  // namespace kaiseki
