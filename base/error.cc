// SPDX-License-Identifier: MIT
#include "base/error.h"

#include <algorithm>
#include <cstdio>

namespace kaiseki {
namespace {

/// A source may have a zero byte, which ends the text of an exception.
std::string_view from(std::string_view text, size_t begin) {
  return text.substr(std::min(begin, text.size()));
}

std::string missing(const OutOfMemory::Bytes& bytes) {
  const uint64_t left = bytes.budget - std::min(bytes.budget, bytes.used);
  return bytes.budget && bytes.asked > left ? ", missing " + format_bytes(bytes.asked - left) : "";
}

}  // namespace

std::string_view Error::cause() const { return from(what(), cause_at_); }

ParseError::ParseError(std::string_view source, std::string_view place, std::string_view what)
    : Error(std::string(source) + ": " + std::string(place) + ": " + std::string(what)),
      place_at_(source.size() + 2) {}

std::string_view ParseError::without_source() const { return from(what(), place_at_); }

OutOfMemory::OutOfMemory(std::string_view device, const Bytes& b, std::string_view cause)
    : Error(message("memory", device, " is out of memory: asked for ", format_bytes(b.asked),
                    ", in use ", format_bytes(b.used), ", cached ", format_bytes(b.cached),
                    b.budget ? ", budget " + format_bytes(b.budget) : "", missing(b),
                    cause.empty() ? "" : ", after ", cause, "; use a smaller batch",
                    b.budget ? " or a larger KAISEKI_DEVICE_MEMORY" : "")),
      bytes(b) {}

OutOfMemory::OutOfMemory(const OutOfMemory& error, std::string_view work)
    : Error(error.as_message() + text_from("; needed by ", work)), bytes(error.bytes) {}

std::string format_bytes(uint64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 6) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

}  // namespace kaiseki
