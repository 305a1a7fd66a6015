// SPDX-License-Identifier: MIT
#include "nn/schedule.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"

namespace kaiseki::nn {

TEST_CASE("schedule: constant, with and without warm-up") {
  Schedule schedule;
  schedule.base = 0.1;
  CHECK(schedule.at(0, 1) == 0.1);
  CHECK(schedule.at(1000000, 1) == 0.1);
  schedule.warmup = 4;
  CHECK(schedule.at(0, 1) == doctest::Approx(0.025));
  CHECK(schedule.at(2, 1) == doctest::Approx(0.075));
  CHECK(schedule.at(3, 1) == 0.1);
  CHECK(schedule.at(4, 1) == 0.1);
}

TEST_CASE("schedule: the warm-up of large minibatches") {
  const Schedule schedule{.base = 0.1, .warmup = 100};
  CHECK(schedule.at(0, 32) == doctest::Approx(0.032));
  CHECK(schedule.at(64, 32) == doctest::Approx(0.096));
  CHECK(schedule.at(96, 32) == 0.1);
}

TEST_CASE("schedule: step multiplies by gamma after each period") {
  Schedule schedule{.name = "step", .base = 1, .period = 10, .gamma = 0.5};
  schedule.check();
  CHECK(schedule.at(9, 1) == 1);
  CHECK(schedule.at(10, 1) == 0.5);
  CHECK(schedule.at(29, 1) == 0.25);
  CHECK(schedule.at(30, 1) == 0.125);
}

TEST_CASE("schedule: cosine and linear end at the minimum and stay there") {
  Schedule schedule{.name = "cosine", .base = 1, .warmup = 10, .total = 110, .minimum = 0.2};
  schedule.check();
  CHECK(schedule.at(4, 1) == doctest::Approx(0.5));
  CHECK(schedule.at(10, 1) == 1);
  CHECK(schedule.at(60, 1) == doctest::Approx(0.6));
  CHECK(schedule.at(35, 1) == doctest::Approx(0.2 + 0.8 * (1 + std::sqrt(0.5)) / 2));
  CHECK(schedule.at(110, 1) == doctest::Approx(0.2));
  CHECK(schedule.at(5000, 1) == doctest::Approx(0.2));
  schedule.name = "linear";
  CHECK(schedule.at(60, 1) == doctest::Approx(0.6));
  CHECK(schedule.at(85, 1) == doctest::Approx(0.4));
  CHECK(schedule.at(5000, 1) == doctest::Approx(0.2));
}

TEST_CASE("schedule: invalid settings throw Error") {
  CHECK_THROWS_AS((Schedule{.name = "cosinus"}.check()), Error);
  CHECK_THROWS_AS((Schedule{.base = 0}.check()), Error);
  CHECK_THROWS_AS((Schedule{.base = NAN}.check()), Error);
  CHECK_THROWS_AS((Schedule{.warmup = -1}.check()), Error);
  CHECK_THROWS_AS((Schedule{.name = "step"}.check()), Error);
  CHECK_THROWS_AS((Schedule{.name = "cosine"}.check()), Error);
  CHECK_THROWS_AS((Schedule{.name = "linear", .base = 1, .total = 5, .minimum = 2}.check()), Error);
}

}  // namespace kaiseki::nn
