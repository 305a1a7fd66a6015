// SPDX-License-Identifier: MIT
// EventLog: one JSON line an event, at a bounded rate.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kaiseki::dist {

class EventLog {
 public:
  using Sink = std::function<void(const std::string& line)>;
  /// `sink` takes whole lines without their end; empty: nothing is logged.
  EventLog(Sink sink, double lines_per_second);

  using Fields = std::vector<std::pair<std::string, std::string>>;
  /// Values are cut at 200 bytes; control characters become spaces, bytes that are no UTF-8 "?".
  void event(const std::string& name, const Fields& fields = {});

 private:
  Sink sink_;
  double per_second_;
  int64_t second_ = 0, lines_ = 0, dropped_ = 0;
};

}  // namespace kaiseki::dist
