// SPDX-License-Identifier: MIT
// Timeline: when each queue or part of the program was busy. A file shows it, in Chrome's trace
// format.
//
//   start_timeline();  // before the first use of an OpenCL device
//   ...
//   device.synchronize();  // adds the commands of its queues
//   write_file_atomic("trace.json", as_bytes(stop_timeline().chrome_trace()));
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"

namespace kaiseki {

struct TimelineEvent {
  std::string_view row;         // such as "opencl:0 kernels"
  std::string_view kind, name;  // such as "kernel" and "gemm"
  double begin = 0;             // of steady_seconds()
  double seconds = 0;
  std::optional<uint64_t> bytes = {};  // of a copy
};

/// A row and the time in which it had an event. Times that overlap count once.
struct TimelineRow {
  std::string name;
  double busy_seconds = 0;
};

class Timeline {
 public:
  /// The limit of events. They need about 10 MB.
  static constexpr size_t kMostEvents = 200'000;

  explicit Timeline(size_t most = kMostEvents) : most_(most) {}

  /// Discards the event if there are `most` events.
  void add(const TimelineEvent& event);
  size_t size() const { return events_.size(); }
  /// Whether an event was discarded.
  bool stopped() const { return stopped_.has_value(); }
  /// The seconds from the first begin to the last end.
  double seconds() const;
  /// The rows in the order of their first events.
  std::vector<TimelineRow> rows() const;
  /// JSON for ui.perfetto.dev and chrome://tracing. Times are microseconds since the first event.
  /// If an event was discarded, a mark shows where.
  std::string chrome_trace() const;

 private:
  struct StoredEvent {
    uint32_t row, kind, name;  // of names_
    double begin, seconds;
    std::optional<uint64_t> bytes;
  };
  uint32_t number_of(std::string_view name);
  double first_begin() const;
  std::vector<uint32_t> row_numbers() const;

  size_t most_;
  std::vector<StoredEvent> events_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> numbers_;  // of names_
  std::optional<double> stopped_;                      // the begin of the first discarded event
};

namespace timeline {
inline std::atomic<bool> records = false;
}

/// Whether this process records a timeline. It stops at the limit of events.
inline bool timeline_records() { return timeline::records.load(std::memory_order_relaxed); }

/// Starts a timeline of this process, and discards an earlier one.
void start_timeline(size_t most = Timeline::kMostEvents);
/// Returns the timeline. It is empty if none was started.
Timeline stop_timeline();
/// Does nothing without a timeline. Any thread may add events.
void add_to_timeline(const TimelineEvent& event);

/// Adds the time from its construction to its destruction. The texts must live as long.
class TimelineSpan {
 public:
  TimelineSpan(std::string_view row, std::string_view kind, std::optional<uint64_t> bytes = {}) {
    if (timeline_records())
      event_ = {.row = row, .kind = kind, .name = kind, .begin = steady_seconds(), .bytes = bytes};
  }
  ~TimelineSpan() {
    if (event_) end();
  }
  TimelineSpan(const TimelineSpan&) = delete;

 private:
  void end() noexcept;
  std::optional<TimelineEvent> event_;
};

}  // namespace kaiseki
