// SPDX-License-Identifier: MIT
#include "base/timeline.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <new>
#include <utility>

#include "base/json.h"

namespace kaiseki {
namespace {

struct CurrentTimeline {
  std::mutex mutex;
  std::optional<Timeline> timeline;
};

CurrentTimeline& current() {
  static auto* one = new CurrentTimeline;  // outlives every static device
  return *one;
}

/// Converts seconds to microseconds, rounded to a nanosecond.
Json microseconds(double seconds) { return std::round(1e9 * seconds) / 1e3; }

Json number(uint64_t value) { return static_cast<double>(value); }

/// The members of every event. Viewers show a row as a thread, and reserve the number 0.
Json event_of_row(std::string name, std::string_view phase, uint32_t row) {
  return Json::object()
      .set("name", std::move(name))
      .set("ph", std::string(phase))
      .set("pid", 1)
      .set("tid", number(row + 1));
}

using Interval = std::pair<double, double>;

double covered_seconds(std::vector<Interval> intervals) {
  std::ranges::sort(intervals);
  double covered = 0, end = intervals.front().first;
  for (const auto& [begin, finish] : intervals) {
    covered += std::max(0.0, finish - std::max(begin, end));
    end = std::max(end, finish);
  }
  return covered;
}

}  // namespace

uint32_t Timeline::number_of(std::string_view name) {
  const auto [at, is_new] =
      numbers_.try_emplace(std::string(name), static_cast<uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return at->second;
}

void Timeline::add(const TimelineEvent& event) {
  if (events_.size() >= most_) {
    if (!stopped_) stopped_ = event.begin;
    return;
  }
  events_.push_back({.row = number_of(event.row),
                     .kind = number_of(event.kind),
                     .name = number_of(event.name),
                     .begin = event.begin,
                     .seconds = event.seconds,
                     .bytes = event.bytes});
}

double Timeline::first_begin() const {
  const auto first = std::ranges::min_element(events_, {}, &StoredEvent::begin);
  return first == events_.end() ? 0 : first->begin;
}

double Timeline::seconds() const {
  double end = first_begin();
  for (const StoredEvent& event : events_) end = std::max(end, event.begin + event.seconds);
  return end - first_begin();
}

std::vector<uint32_t> Timeline::row_numbers() const {
  std::vector<uint32_t> rows;
  for (const StoredEvent& event : events_)
    if (std::ranges::find(rows, event.row) == rows.end()) rows.push_back(event.row);
  return rows;
}

std::vector<TimelineRow> Timeline::rows() const {
  std::vector<TimelineRow> rows;
  for (const uint32_t row : row_numbers()) {
    std::vector<Interval> intervals;
    for (const StoredEvent& event : events_)
      if (event.row == row) intervals.emplace_back(event.begin, event.begin + event.seconds);
    rows.push_back({names_[row], covered_seconds(std::move(intervals))});
  }
  return rows;
}

std::string Timeline::chrome_trace() const {
  const double first = first_begin();
  std::string lines;
  const auto add_line = [&](const Json& event) {
    lines += (lines.empty() ? "" : ",\n") + format_json_line(event);
  };
  for (const uint32_t row : row_numbers())
    add_line(
        event_of_row("thread_name", "M", row).set("args", Json::object().set("name", names_[row])));
  for (const StoredEvent& event : events_) {
    Json line = event_of_row(names_[event.name], "X", event.row);
    line.set("cat", names_[event.kind])
        .set("ts", microseconds(event.begin - first))
        .set("dur", microseconds(event.seconds));
    if (event.bytes) line.set("args", Json::object().set("bytes", number(*event.bytes)));
    add_line(line);
  }
  if (stopped_)
    add_line(event_of_row("stopped after " + std::to_string(most_) + " events", "i", 0)
                 .set("ts", microseconds(std::max(0.0, *stopped_ - first)))
                 .set("s", "g"));
  return "{\"traceEvents\": [\n" + lines + "\n]}\n";
}

void start_timeline(size_t most) {
  std::lock_guard lock(current().mutex);
  current().timeline.emplace(most);
  timeline::records = true;
}

Timeline stop_timeline() {
  std::lock_guard lock(current().mutex);
  timeline::records = false;
  std::optional<Timeline> timeline = std::exchange(current().timeline, std::nullopt);
  return timeline ? std::move(*timeline) : Timeline();
}

void add_to_timeline(const TimelineEvent& event) {
  std::lock_guard lock(current().mutex);
  if (!current().timeline) return;
  current().timeline->add(event);
  if (current().timeline->stopped()) timeline::records = false;
}

void TimelineSpan::end() noexcept {
  event_->seconds = steady_seconds() - event_->begin;
  try {
    add_to_timeline(*event_);
  } catch (const std::bad_alloc&) {  // without this event
  }
}

}  // namespace kaiseki
