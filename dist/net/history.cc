// SPDX-License-Identifier: MIT
#include "dist/net/history.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace kaiseki::dist {
namespace {

constexpr double kRateSeconds = 10;  // as tickets often end in bursts
constexpr double kGapSeconds = 30;   // without add(): the process did not run

[[noreturn]] void fail() { throw ParseError("history", "points", "expected a saved history"); }

const Json& part(const Json& of, std::string_view key, Json::Kind kind) {
  const Json* found = of.find(key);
  if (!found || !found->is(kind)) fail();
  return *found;
}

double number(const Json& of, std::string_view key) {
  return part(of, key, Json::Kind::number).number;
}

/// Few digits make short texts.
double rounded(double value) { return std::round(value * 1000) / 1000; }

Json column(const std::vector<HistoryPoint>& points, double HistoryPoint::*of) {
  Json list = Json::array();
  for (const HistoryPoint& point : points) list.items.emplace_back(rounded(point.*of));
  return list;
}

}  // namespace

Json to_json(const std::vector<HistoryPoint>& points) {
  Json json = Json::object();
  json.set("time", column(points, &HistoryPoint::time));
  json.set("rate", column(points, &HistoryPoint::rate));
  return json.set("nodes", column(points, &HistoryPoint::nodes));
}

History::History()
    : levels_{{.interval = 2, .most = 330},
              {.interval = 10, .most = 400},
              {.interval = 240, .most = 400},
              {.interval = 3600, .most = 800, .halves = true}} {}

void History::add(double time, uint64_t ended, size_t nodes) {
  const bool goes_on = !marks_.empty() && time > last_ && time - last_ < kGapSeconds;
  if (!goes_on) {
    for (Level& level : levels_) level.resume(last_, time);
    marks_.clear();
  }
  marks_.push_back({time, ended});
  while (marks_.size() > 2 && time - marks_[1].time >= kRateSeconds) marks_.pop_front();
  if (goes_on) {
    const TimedTickets& first = marks_.front();
    const double rate = static_cast<double>(ended - first.ended) / (time - first.time);
    for (Level& level : levels_) level.add(time, time - last_, rate, static_cast<double>(nodes));
  }
  last_ = time;
}

void History::Level::add(double time, double passed, double rate, double nodes_now) {
  seconds += passed;
  rates += passed * rate;
  nodes += passed * nodes_now;
  if (seconds >= interval) flush(time);
}

void History::Level::flush(double time) {
  if (seconds > 0) push({time, rates / seconds, nodes / seconds});
  seconds = rates = nodes = 0;
}

void History::Level::push(const HistoryPoint& point) {
  points.push_back(point);
  if (points.size() <= most) return;
  if (!halves) {
    points.erase(points.begin());
    is_whole = false;
    return;
  }
  size_t kept = 0;
  for (size_t i = 1; i < points.size(); i += 2) {
    const HistoryPoint &a = points[i - 1], &b = points[i];
    points[kept++] = {b.time, (a.rate + b.rate) / 2, (a.nodes + b.nodes) / 2};
  }
  if (points.size() % 2) points[kept++] = points.back();
  points.resize(kept);
  interval *= 2;
}

/// Continues at `time` after a time without values since `last`. If the clock went back, drops the
/// points that are in the future now.
void History::Level::resume(double last, double time) {
  if (time <= last) {
    std::erase_if(points, [time](const HistoryPoint& point) { return point.time >= time; });
    seconds = rates = nodes = 0;
  } else if (last > 0 && time - last > 2 * interval) {
    flush(last);
    push({last + interval, 0, 0});
    push({time, 0, 0});
  }
}

std::vector<HistoryPoint> History::of(std::optional<double> seconds) const {
  const double since = seconds ? last_ - *seconds : 0;
  const auto reaches = [since](const Level& level) {
    return level.is_whole || (!level.points.empty() && level.points.front().time <= since);
  };
  auto level = std::find_if(levels_.begin(), levels_.end(), reaches);
  if (level == levels_.end()) --level;
  std::vector<HistoryPoint> found;
  for (const HistoryPoint& point : level->points)
    if (point.time >= since) found.push_back(point);
  if (level->seconds > 0)
    found.push_back({last_, level->rates / level->seconds, level->nodes / level->seconds});
  return found;
}

Json History::save() const {
  Json saved = Json::object(), list = Json::array();
  for (const Level& level : levels_) {
    Json one = to_json(level.points);
    one.set("interval", level.interval).set("is_whole", level.is_whole);
    one.set("seconds", level.seconds).set("rates", level.rates).set("node_seconds", level.nodes);
    list.items.push_back(std::move(one));
  }
  return saved.set("last", last_).set("levels", std::move(list));
}

void History::restore(const Json& saved) {
  History made;
  made.last_ = number(saved, "last");
  const auto& list = part(saved, "levels", Json::Kind::array).items;
  if (list.size() != levels_.size()) fail();
  for (size_t i = 0; i < list.size(); ++i) {
    Level& level = made.levels_[i];
    const double interval = number(list[i], "interval");
    if (!(interval >= level.interval)) fail();
    level.interval = interval;
    level.is_whole = part(list[i], "is_whole", Json::Kind::boolean).boolean;
    level.seconds = number(list[i], "seconds");
    level.rates = number(list[i], "rates");
    level.nodes = number(list[i], "node_seconds");
    const auto& times = part(list[i], "time", Json::Kind::array).items;
    const auto& rates = part(list[i], "rate", Json::Kind::array).items;
    const auto& nodes = part(list[i], "nodes", Json::Kind::array).items;
    const bool fits = times.size() == rates.size() && times.size() == nodes.size();
    if (!fits || times.size() > level.most || (times.empty() && !level.is_whole)) fail();
    for (size_t at = 0; at < times.size(); ++at)
      level.points.push_back({times[at].number, rates[at].number, nodes[at].number});
  }
  *this = std::move(made);
}

}  // namespace kaiseki::dist
