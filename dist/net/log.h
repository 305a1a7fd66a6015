// SPDX-License-Identifier: MIT
// EventLog: one JSON line per event, at a limited rate. Events of security have a rate of their
// own: many other events cannot displace them.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kaiseki::dist {

class EventLog {
 public:
  using Sink = std::function<void(const std::string& line)>;
  /// `sink` gets complete lines without the line end. If it is empty, nothing is logged.
  EventLog(Sink sink, double lines_per_second);

  using Fields = std::vector<std::pair<std::string, std::string>>;
  /// Truncates values to 200 bytes. Control characters become spaces, and bytes that are not UTF-8
  /// become "?".
  void event(const std::string& name, const Fields& fields = {}) { write(events_, name, fields); }
  /// Logs an event of security: an attacker may want to hide it, but cannot cause it often.
  void security(const std::string& name, const Fields& fields) { write(security_, name, fields); }

 private:
  struct Rate {
    int64_t second = 0, lines = 0;
  };
  void write(Rate& rate, const std::string& name, const Fields& fields);

  Sink sink_;
  double per_second_;
  Rate events_, security_;
  int64_t dropped_ = 0;
};

}  // namespace kaiseki::dist
