// SPDX-License-Identifier: MIT
// EventLog: one JSON line per event, at a limited rate. Each event of security has a rate of its
// own: many other events cannot displace it.
#pragma once

#include <functional>
#include <map>
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
  /// Logs an event of security, which an attacker may want to hide. Each name has its own limit,
  /// and one `address` gets at most a tenth of it. So it cannot displace the lines of others.
  void security(const std::string& name, const Fields& fields, const std::string& address = {}) {
    write(security_[name], name, fields, address);
  }

 private:
  struct Rate {
    int64_t second = 0, lines = 0;
    std::map<std::string, int64_t> of_address = {};
  };
  void write(Rate& rate, const std::string& name, const Fields& fields,
             const std::string& address = {});
  bool has_room(Rate& rate, const std::string& address) const;

  Sink sink_;
  double per_second_;
  Rate events_;
  std::map<std::string, Rate> security_;  // by name
  int64_t dropped_ = 0;
};

}  // namespace kaiseki::dist
