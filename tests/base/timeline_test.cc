// SPDX-License-Identifier: MIT
#include "base/timeline.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "base/json.h"

using namespace kaiseki;

namespace {

std::vector<Json> events_of(const Timeline& timeline, std::string_view phase) {
  std::vector<Json> events;
  const Json file = parse_json(timeline.chrome_trace(), "trace");
  for (const Json& event : file.find("traceEvents")->items)
    if (event.find("ph")->string == phase) events.push_back(event);
  return events;
}

TimelineEvent event(std::string_view row, double begin, double seconds) {
  return {.row = row, .kind = "kernel", .name = "gemm", .begin = begin, .seconds = seconds};
}

}  // namespace

TEST_CASE("timeline: the busy time of a row counts times that overlap once") {
  Timeline timeline;
  timeline.add(event("kernels", 103, 1));
  timeline.add(event("kernels", 100, 2));
  timeline.add(event("kernels", 101, 0.5));
  timeline.add(event("kernels", 101, 1.5));
  timeline.add(event("uploads", 104, 6));
  const std::vector<TimelineRow> rows = timeline.rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "kernels");
  CHECK(rows[0].busy_seconds == 3.5);
  CHECK(rows[1].name == "uploads");
  CHECK(rows[1].busy_seconds == 6);
  CHECK(timeline.seconds() == 10);
  CHECK(Timeline().rows().empty());
  CHECK(Timeline().seconds() == 0);
}

TEST_CASE("timeline: the file has a thread for each row, and times in microseconds") {
  Timeline timeline;
  timeline.add({.row = "files",
                .kind = "write",
                .name = "a \"name\"\n",
                .begin = 12.5,
                .seconds = 1.25e-6,
                .bytes = uint64_t{5} << 30});
  timeline.add(event("steps", 12.25, 0.125));
  const std::vector<Json> names = events_of(timeline, "M"), events = events_of(timeline, "X");
  REQUIRE(names.size() == 2);
  CHECK(names[0].find("args")->find("name")->string == "files");
  CHECK(names[1].find("args")->find("name")->string == "steps");
  REQUIRE(events.size() == 2);
  CHECK(*events[0].find("tid") == *names[0].find("tid"));
  CHECK(*events[1].find("tid") == *names[1].find("tid"));
  CHECK(events[0].find("name")->string == "a \"name\"\n");
  CHECK(events[0].find("cat")->string == "write");
  CHECK(events[0].find("ts")->number == 250'000);
  CHECK(events[0].find("dur")->number == 1.25);
  CHECK(events[0].find("args")->find("bytes")->number == 0x5p30);
  CHECK(events[1].find("ts")->number == 0);
  CHECK(events[1].find("dur")->number == 125'000);
  CHECK_FALSE(events[1].find("args"));
  CHECK(events_of(Timeline(), "X").empty());
}

TEST_CASE("timeline: it stops at the limit of events, and the file shows where") {
  Timeline timeline(3);
  for (int i = 0; i < 3; ++i) timeline.add(event("kernels", i, 1));
  CHECK_FALSE(timeline.stopped());
  CHECK(events_of(timeline, "i").empty());
  timeline.add(event("uploads", 7, 1));
  timeline.add(event("uploads", 8, 1));
  CHECK(timeline.stopped());
  CHECK(timeline.size() == 3);
  CHECK(timeline.rows().size() == 1);
  const std::vector<Json> marks = events_of(timeline, "i");
  REQUIRE(marks.size() == 1);
  CHECK(marks[0].find("name")->string == "stopped after 3 events");
  CHECK(marks[0].find("ts")->number == 7e6);
}

TEST_CASE("timeline: a process records one from its start to its end or the limit") {
  add_to_timeline(event("kernels", 0, 1));
  CHECK(stop_timeline().size() == 0);
  CHECK_FALSE(timeline_records());
  start_timeline();
  add_to_timeline(event("kernels", 0, 1));
  start_timeline(3);  // discards the event
  CHECK(timeline_records());
  const double begin = steady_seconds();
  { TimelineSpan span("files", "read", 8); }
  const double end = steady_seconds();
  for (int i = 0; i < 3; ++i) add_to_timeline(event("kernels", i, 1));
  CHECK_FALSE(timeline_records());  // since the limit
  { TimelineSpan span("files", "read", 8); }
  const Timeline timeline = stop_timeline();
  CHECK(timeline.size() == 3);
  CHECK(timeline.stopped());
  const std::vector<TimelineRow> rows = timeline.rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "files");
  CHECK(rows[0].busy_seconds <= end - begin);
  CHECK(rows[1].busy_seconds == 2);
}

TEST_CASE("timeline: any thread may add events") {
  start_timeline();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([] {
      for (int k = 0; k < 100; ++k) add_to_timeline(event("kernels", k, 1));
    });
  for (std::thread& thread : threads) thread.join();
  const Timeline timeline = stop_timeline();
  CHECK(timeline.size() == 400);
  REQUIRE(timeline.rows().size() == 1);
  CHECK(timeline.rows()[0].busy_seconds == 100);
}
