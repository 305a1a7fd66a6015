// SPDX-License-Identifier: MIT
#include "dist/pool/pace.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace kaiseki::dist;

TEST_CASE("pace: the limit is the median and three median absolute deviations") {
  Pace pace;
  CHECK(!pace.measured());
  // Each by another node, so that no factor changes the next measurement.
  for (double seconds : {30.0, 10.0, 50.0, 26.0, 1000.0, 31.0, 22.0, 34.0, 29.0}) {
    Speed new_node{1, 1};
    pace.add(seconds, 1, new_node);
  }
  CHECK(pace.measured());
  // Sorted 10 22 26 29 30 31 34 50 1000: median 30. Off by 20 8 4 1 0 1 4 20 970: median 4.
  CHECK(pace.typical(1, {1, 1}) == doctest::Approx(30));
  CHECK(pace.limit(1, {1, 1}) == doctest::Approx(60));  // 30 + 3 * 4, but at least two medians
  for (double seconds : {100.0, 1.0, 80.0, 2.0}) {
    Speed new_node{1, 1};
    pace.add(seconds, 1, new_node);
  }
  // 1 2 10 22 26 29 30 31 34 50 80 100 1000: median 30. Off by 29 28 20 8 4 1 0 1 4 20 50 70 970.
  CHECK(pace.limit(1, {1, 1}) == doctest::Approx(30 + 3 * 20));
}

TEST_CASE("pace: only the last 101 measurements count") {
  Pace pace;
  for (int i = 0; i < 202; ++i) {
    Speed new_node{1, 1};
    pace.add(i < 101 ? 5 : 1, 1, new_node);
  }
  CHECK(pace.typical(1, {1, 1}) == doctest::Approx(1));
}

TEST_CASE("pace: a node twice as fast is expected in half the time, twice the work in twice") {
  Pace pace;
  Speed speed = speed_of(10);
  for (int i = 0; i < 20; ++i) pace.add(3, 1, speed);
  CHECK(speed.factor == doctest::Approx(1));
  CHECK(pace.typical(1, speed) == doctest::Approx(3));
  CHECK(pace.typical(1, speed_of(20)) == doctest::Approx(1.5));
  CHECK(pace.typical(2, speed) == doctest::Approx(6));
  CHECK(pace.limit(1, speed) == doctest::Approx(6));  // no deviation: two medians
}

TEST_CASE("pace: the factor of a node that is slower than reported grows") {
  Pace pace;
  Speed honest = speed_of(10), boasting = speed_of(10);
  for (int i = 0; i < 60; ++i) {
    pace.add(1, 1, honest);
    pace.add(1, 1, honest);
    pace.add(8, 1, boasting);
  }
  CHECK(pace.typical(1, boasting) == doctest::Approx(8).epsilon(0.1));
  CHECK(pace.typical(1, honest) == doctest::Approx(1).epsilon(0.1));
}

TEST_CASE("pace: the reported slowness of a node without results is bounded") {
  Pace pace;
  Speed honest = speed_of(10);
  for (int i = 0; i < 20; ++i) pace.add(1, 1, honest);
  Speed liar = speed_of(1e-9);
  CHECK(pace.typical(1, liar) == doctest::Approx(10));
  CHECK(pace.limit(1, liar) == doctest::Approx(20));
  CHECK(pace.limit(3, liar) == doctest::Approx(60));
  pace.add(1, 1, liar);  // its first result sets the factor
  CHECK(pace.typical(1, liar) == doctest::Approx(1));
  Speed slow = speed_of(1e-9);
  pace.add(500, 1, slow);  // also for a node that is really slow
  CHECK(pace.typical(1, slow) == doctest::Approx(500));
}

TEST_CASE("pace: a few wrong measurements do not move the median") {
  Pace pace;
  Speed honest = speed_of(10);
  for (int i = 0; i < 80; ++i) pace.add(1, 1, honest);
  for (int i = 0; i < 20; ++i) {
    Speed liar = speed_of(1e300);
    pace.add(1e6, 1, liar);
  }
  CHECK(pace.typical(1, honest) == doctest::Approx(1).epsilon(0.05));
}

TEST_CASE("pace: extreme reported speeds give finite times") {
  for (double said : {0.0, -1.0, std::nan(""), double{INFINITY}, 1e-300}) {
    Pace pace;
    Speed speed = speed_of(said);
    pace.add(0, 1, speed);
    pace.add(-5, 1, speed);
    pace.add(1e9, 1, speed);
    CHECK(std::isfinite(pace.limit(1, speed)));
    CHECK(pace.limit(1, speed) > 0);
  }
}
