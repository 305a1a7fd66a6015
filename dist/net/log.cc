// SPDX-License-Identifier: MIT
#include "dist/net/log.h"

#include <chrono>

#include "dist/pool/text.h"
#include "nn/train/json_line.h"

namespace kaiseki::dist {
namespace {

constexpr size_t kLongest = 200;

}  // namespace

EventLog::EventLog(Sink sink, double lines_per_second)
    : sink_(std::move(sink)), per_second_(lines_per_second) {}

void EventLog::write(Rate& rate, const std::string& name, const Fields& fields) {
  if (!sink_) return;
  using namespace std::chrono;
  const auto time = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  if (time / 1000 != rate.second) rate = {.second = time / 1000};
  if (static_cast<double>(++rate.lines) > per_second_) {
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
