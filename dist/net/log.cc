// SPDX-License-Identifier: MIT
#include "dist/net/log.h"

#include <algorithm>

#include "base/clock.h"
#include "base/json_line.h"
#include "dist/pool/text.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kLongest = 200;
constexpr double kAddressShare = 0.1;

}  // namespace

EventLog::EventLog(Sink sink, double lines_per_second)
    : sink_(std::move(sink)), per_second_(lines_per_second) {}

bool EventLog::has_room(Rate& rate, const std::string& address) const {
  if (static_cast<double>(rate.lines) >= per_second_) return false;
  const double most = std::max(1.0, kAddressShare * per_second_);
  if (!address.empty() && static_cast<double>(++rate.of_address[address]) > most) return false;
  ++rate.lines;
  return true;
}

void EventLog::write(Rate& rate, const std::string& name, const Fields& fields,
                     const std::string& address) {
  if (!sink_) return;
  const auto time = static_cast<int64_t>(1e3 * system_seconds());
  if (time / 1000 != rate.second) rate = {.second = time / 1000};
  if (!has_room(rate, address)) {
    ++dropped_;
    return;
  }
  JsonLine line;
  line.add("time_ms", time).add("event", name);
  for (const auto& [key, value] : fields) line.add(key, clean_text(value, kLongest));
  if (dropped_ > 0) line.add("lines_dropped", dropped_);
  dropped_ = 0;
  sink_(line.str());
}

}  // namespace kaiseki::dist
