// SPDX-License-Identifier: MIT
// History: tickets per second and connected nodes over time, for the console. It is bounded: the
// older the values, the longer the time that each one covers.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace kaiseki::dist {

/// Means over the time since the point before.
struct HistoryPoint {
  double time = 0;  // seconds since 1970, at the end
  double rate = 0;  // ended tickets per second
  double nodes = 0;
};

/// {"time": [...], "rate": [...], "nodes": [...]}
Json to_json(const std::vector<HistoryPoint>& points);

class History {
 public:
  History();

  /// Adds the state at `time`. `ended` counts the tickets that ended since the process started.
  /// After a time without calls, tickets and nodes were 0.
  void add(double time, uint64_t ended, size_t nodes);
  /// The points of the last `seconds`, as fine as there are. Without seconds, all points.
  std::vector<HistoryPoint> of(std::optional<double> seconds = {}) const;

  /// All points, for restore().
  Json save() const;
  /// Throws ParseError and keeps the history if `saved` is not from save().
  void restore(const Json& saved);

 private:
  /// Points of one length of time.
  struct Level {
    double interval = 0;   // seconds of a point
    size_t most = 0;       // points
    bool halves = false;   // When it is full, two points become one. Otherwise it drops the first.
    bool is_whole = true;  // it has dropped no point
    std::vector<HistoryPoint> points = {};
    // The sums of the point that is not complete.
    double seconds = 0, rates = 0, nodes = 0;

    void add(double time, double passed, double rate, double nodes_now);
    void push(const HistoryPoint& point);
    void flush(double time);
    void resume(double last, double time);
  };
  struct TimedTickets {
    double time = 0;
    uint64_t ended = 0;
  };

  std::vector<Level> levels_;       // from the finest
  std::deque<TimedTickets> marks_;  // of the last seconds, over which the rate is averaged
  double last_ = 0;                 // the time of the last add()
};

}  // namespace kaiseki::dist
