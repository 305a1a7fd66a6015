// SPDX-License-Identifier: MIT
#include "dist/net/history.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace kaiseki;
using dist::History;
using dist::HistoryPoint;

namespace {

constexpr double kHour = 3600, kDay = 24 * kHour;

/// Adds a value every second. Five tickets end a second.
void run(History& history, double& time, double seconds, size_t nodes) {
  static uint64_t ended = 0;
  for (double until = time + seconds; time < until; time += 1) history.add(time, ended += 5, nodes);
}

void check_order(const std::vector<HistoryPoint>& points) {
  for (size_t i = 1; i < points.size(); ++i) CHECK(points[i].time > points[i - 1].time);
}

}  // namespace

TEST_CASE("history: a shorter time has finer points") {
  History history;
  CHECK(history.of(60).empty());
  double time = 1e9;
  run(history, time, 2 * kDay, 3);
  const double now = time - 1;
  for (const auto& [seconds, between] : {std::pair{60.0, 2.0}, std::pair{600.0, 2.0},
                                         std::pair{kHour, 10.0}, std::pair{kDay, 240.0}}) {
    const auto points = history.of(seconds);
    check_order(points);
    CHECK(points.back().time == now);
    CHECK(points.front().time <= now - seconds + between);
    CHECK(points.front().time >= now - seconds);
    CHECK(points.size() >= static_cast<size_t>(seconds / between));
    CHECK(points.size() <= static_cast<size_t>(seconds / between) + 2);
    for (const HistoryPoint& point : points) {
      CHECK(point.rate == doctest::Approx(5));
      CHECK(point.nodes == doctest::Approx(3));
    }
  }
  CHECK(history.of().size() == doctest::Approx(48).epsilon(0.05));
}

TEST_CASE("history: all of a young history has fine points") {
  History history;
  double time = 1e9;
  run(history, time, 300, 1);
  CHECK(history.of().size() >= 149);
  CHECK(history.of(kDay).size() == history.of().size());
}

TEST_CASE("history: bursts of tickets give a steady rate") {
  History history;
  for (int second = 0; second < 200; ++second)
    history.add(1e9 + second, static_cast<uint64_t>(second / 2 * 40), 1);
  const auto points = history.of(100);
  REQUIRE(points.size() > 40);
  for (const HistoryPoint& point : points) {
    CHECK(point.rate >= 16);
    CHECK(point.rate <= 24);
  }
}

TEST_CASE("history: years fit into a bounded size, from the first day on") {
  History history;
  double time = 1e9;
  uint64_t ended = 0;
  for (; time < 1e9 + 3 * 365 * kDay; time += 25) history.add(time, ended += 25, 2);
  const auto all = history.of();
  check_order(all);
  CHECK(all.size() <= 801);
  CHECK(all.size() >= 400);
  CHECK(all.front().time < 1e9 + 10 * kDay);
  CHECK(format_json_line(history.save()).size() < 100'000);
}

TEST_CASE("history: a saved history continues, and is 0 while the process did not run") {
  double time = 1e9;
  History before, after;
  run(before, time, 1000, 4);
  after.restore(parse_json(format_json_line(before.save()), "test"));
  CHECK(after.of().size() == before.of().size());
  CHECK(after.of(600).size() == before.of(600).size());
  time += 300;
  run(after, time, 100, 4);
  const auto points = after.of(600);
  check_order(points);
  bool has_gap = false;
  for (const HistoryPoint& point : points) {
    const double ago = time - 1 - point.time;
    if (ago > 105 && ago < 395) CHECK(point.nodes == 0);
    has_gap = has_gap || point.nodes == 0;
  }
  CHECK(has_gap);
  CHECK(points.front().nodes == doctest::Approx(4));
  CHECK(points.back().rate == doctest::Approx(5));
}

TEST_CASE("history: a restart within a point does not end the point") {
  double time = 1e9;
  History before, after;
  run(before, time, 1800, 4);
  after.restore(before.save());
  time += 60;
  run(after, time, 1800, 4);
  // The first hour has ended in the gap. Its mean counts only the measured seconds.
  CHECK(after.of().back().nodes == doctest::Approx(4));
}

TEST_CASE("history: a clock that goes back drops what is in the future") {
  History history;
  double time = 1e9;
  run(history, time, 1000, 1);
  time -= 500;
  run(history, time, 100, 2);
  for (double seconds : {60.0, 600.0, kHour, 0.0}) {
    const auto points = history.of(seconds);
    check_order(points);
    CHECK(points.back().time == time - 1);
  }
  CHECK(history.of(60).back().nodes == doctest::Approx(2));
}

TEST_CASE("history: a file of another kind is an error and changes nothing") {
  History history;
  double time = 1e9;
  run(history, time, 100, 1);
  const size_t points = history.of().size();
  std::string text = format_json_line(history.save());
  for (const char* wrong :
       {"{}", "[]", "{\"last\": 1, \"levels\": []}", "{\"last\": 1, \"levels\": [1, 2, 3, 4]}"})
    CHECK_THROWS_AS(history.restore(parse_json(wrong, "test")), ParseError);
  const size_t at = text.find("\"rate\":[");
  text.insert(at + 8, "1,");
  CHECK_THROWS_AS(history.restore(parse_json(text, "test")), ParseError);
  CHECK(history.of().size() == points);
}
