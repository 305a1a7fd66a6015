// SPDX-License-Identifier: MIT
#include "dist/net/log.h"

#include <algorithm>
#include <chrono>

#include "dist/pool/text.h"
#include "nn/train/json_line.h"

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
  using namespace std::chrono;
  const auto time = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  if (time / 1000 != rate.second) rate = {.second = time / 1000};
  if (!has_room(rate, address)) {
    ++dropped_;
    return;
  }
  nn::JsonLine line;
  line.add("time_ms", static_cast<int64_t>(time)).add("event", name);
  for (const auto& [key, value] : fields) line.add(key, clean_text(value, kLongest));
  if (dropped_ > 0) line.add("lines_dropped", dropped_);
  dropped_ = 0;
  sink_(line.str());
}

}  // namespace kaiseki::dist
