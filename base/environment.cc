// SPDX-License-Identifier: MIT
#include "base/environment.h"

#include <charconv>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"

namespace kaiseki {
namespace {

std::string read(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Returns `own` if it is set, else "kaiseki" in the folder named by `xdg`, else the folder below
/// home.
std::filesystem::path directory(const std::string& own, const char* xdg, const char* below_home) {
  if (!own.empty()) return own;
  if (auto folder = read(xdg); !folder.empty()) return std::filesystem::path(folder) / "kaiseki";
  if (auto home = read("HOME"); !home.empty())
    return std::filesystem::path(home) / below_home / "kaiseki";
  return std::filesystem::temp_directory_path() / "kaiseki";
}

int parse_threads(const std::string& text) {
  if (text.empty()) return 0;
  const auto value = parse_number<int>(text);
  if (!value || *value < 0 || *value > 1024)
    throw Error(
        message("environment", "expected KAISEKI_THREADS from 0 to 1024, got '", text, "'"));
  return *value;
}

/// The value of a variable that limits memory.
std::optional<uint64_t> limit_of(const char* name) {
  const std::string text = read(name);
  if (text.empty()) return {};
  const uint64_t bytes = parse_bytes(text, name);
  if (bytes == 0)
    throw Error(
        message("environment", "expected ", name, " over 0 (unset: no limit), got '", text, "'"));
  return bytes;
}

}  // namespace

uint64_t parse_bytes(std::string_view text, std::string_view what) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string_view unit(end, text.data() + text.size() - end);
  int shift = 0;
  if (unit == "K" || unit == "KiB")
    shift = 10;
  else if (unit == "M" || unit == "MiB")
    shift = 20;
  else if (unit == "G" || unit == "GiB")
    shift = 30;
  else if (unit != "" && unit != "B")
    error = std::errc::invalid_argument;
  if (error != std::errc() || (shift && value >> (64 - shift)))
    throw Error(
        message("environment", "expected ", what, " as bytes such as 512M, got '", text, "'"));
  return value << shift;
}

Environment environment() {
  Environment result;
  result.device = read("KAISEKI_DEVICE");
  result.device_memory = limit_of("KAISEKI_DEVICE_MEMORY");
  result.host_memory = limit_of("KAISEKI_HOST_MEMORY");
  result.spill_dir = read("KAISEKI_SPILL_DIR");
  result.threads = parse_threads(read("KAISEKI_THREADS"));
  result.cache_dir = directory(read("KAISEKI_CACHE_DIR"), "XDG_CACHE_HOME", ".cache");
  result.state_dir = directory(read("KAISEKI_STATE_DIR"), "XDG_STATE_HOME", ".local/state");
  result.data_dir = read("KAISEKI_DATA");
  result.cpu_target = read("KAISEKI_CPU_TARGET");
  return result;
}

TerminalEnvironment terminal_environment() {
  TerminalEnvironment result;
  result.no_color = !read("NO_COLOR").empty();
  result.type = read("TERM");
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (result.locale.empty()) result.locale = read(name);
  if (const int columns = std::atoi(read("COLUMNS").c_str()); columns > 0) result.columns = columns;
  return result;
}

}  // namespace kaiseki
