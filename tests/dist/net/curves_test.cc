// SPDX-License-Identifier: MIT
#include "dist/net/curves.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "dist/net/saved_curves.h"

using namespace kaiseki::dist;

namespace {

/// The points as text, to compare curves.
std::string text_of(const Curves& curves) { return saved_curves(curves, 1 << 20); }

}  // namespace

TEST_CASE("curves: points are returned in order, after a step, by project") {
  Curves curves;
  CHECK_FALSE(curves.has(1));
  curves.add(1, {1, 2.5});
  curves.add(1, {2, 2.25, 0.5});
  curves.add(2, {7, 1.0});
  REQUIRE(curves.of(1).size() == 2);
  CHECK(curves.of(1)[1].step == 2);
  CHECK(*curves.of(1)[1].accuracy == 0.5);
  CHECK_FALSE(curves.of(1)[0].accuracy);
  CHECK(curves.of(1, 1).size() == 1);
  CHECK(curves.of(1, 2).empty());
  CHECK(curves.of(3).empty());
  curves.forget(1);
  CHECK_FALSE(curves.has(1));
  CHECK(curves.has(2));
}

TEST_CASE("curves: a restarted training starts its curve again") {
  Curves curves;
  for (int64_t step : {1, 2, 3}) curves.add(1, {step, 1.0});
  curves.add(1, {1, 3.0});
  REQUIRE(curves.of(1).size() == 1);
  CHECK(*curves.of(1)[0].loss == 3.0);
}

TEST_CASE("curves: a long curve drops points, but keeps its ends and evaluations") {
  Curves curves(100);
  for (int64_t step = 0; step < 10000; ++step) {
    CurvePoint point{step, 1.0};
    if (step % 1000 == 500) point.accuracy = 0.1;
    curves.add(1, point);
    CHECK(curves.of(1).size() <= 100);
  }
  const auto points = curves.of(1);
  CHECK(points.size() >= 50);
  CHECK(points.front().step == 0);
  CHECK(points.back().step == 9999);
  int tests = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    tests += points[i].accuracy.has_value();
    if (i > 0) CHECK(points[i].step > points[i - 1].step);
  }
  CHECK(tests == 10);
}

TEST_CASE("curves: if all points are evaluations, the oldest are dropped") {
  Curves curves(10);
  for (int64_t step = 0; step < 100; ++step) curves.add(1, {step, 1.0, 0.5});
  CHECK(curves.of(1).size() == 10);
  CHECK(curves.of(1).back().step == 99);
}

TEST_CASE("curves: saved curves are the same after they are restored") {
  Curves curves;
  curves.add(1, {1, 2.25});
  curves.add(1, {2, 1.0 / 3, 0.5, 100, 1, 8});
  curves.add(7, {.step = 5, .accuracy = 0.75});
  Curves restored;
  restore_curves(text_of(curves), restored);
  CHECK(restored.projects() == std::vector<ProjectId>{1, 7});
  REQUIRE(restored.of(1).size() == 2);
  CHECK(*restored.of(1)[1].loss == 1.0 / 3);
  CHECK(*restored.of(1)[1].epochs == 8);
  CHECK_FALSE(restored.of(7)[0].loss);
  CHECK(text_of(restored) == text_of(curves));
}

TEST_CASE("curves: a limit of bytes leaves out the oldest projects") {
  Curves curves;
  for (ProjectId project : {1, 2, 3}) curves.add(project, {1, 2.0});
  const size_t line = text_of(curves).size() / 3;
  Curves restored;
  restore_curves(saved_curves(curves, 2 * line + 1), restored);
  CHECK(restored.projects() == std::vector<ProjectId>{2, 3});
}

TEST_CASE("curves: a damaged line throws, and the lines before it count") {
  Curves curves;
  const std::string good = R"({"project": 3, "points": [{"step": 1, "loss": 2}]})";
  for (const std::string bad :
       {"{", R"({"project": 0, "points": []})", R"({"project": 4, "points": [1]})"}) {
    CHECK_THROWS_AS(restore_curves(good + "\n" + bad, curves), kaiseki::ParseError);
    CHECK(curves.projects() == std::vector<ProjectId>{3});
  }
}
