// SPDX-License-Identifier: MIT
#include "matrix/tune/trials.h"

#include <doctest/doctest.h>

#include <vector>

namespace kaiseki {
namespace {

/// Returns the candidates in the order of timing, if each always takes the same time.
std::vector<size_t> timed(Trials& trials, const std::vector<double>& milliseconds) {
  std::vector<size_t> order;
  while (const auto i = trials.next()) {
    trials.add_time(*i, milliseconds[*i]);
    order.push_back(*i);
  }
  return order;
}

}  // namespace

TEST_CASE("trials: in turn, three times, or seven times if the best is fast") {
  Trials slow(2), quick(2);
  CHECK(timed(slow, {20, 25}) == std::vector<size_t>{0, 1, 0, 1, 0, 1});
  CHECK(timed(quick, {1, 1.2}).size() == 14);
}

TEST_CASE("trials: a candidate that is too slow is not timed again, unless it is the first") {
  Trials last(2), first(2);
  CHECK(timed(last, {20, 31}) == std::vector<size_t>{0, 1, 0, 0});
  CHECK(timed(first, {31, 20}) == std::vector<size_t>{0, 1, 0, 1, 0, 1});
}

TEST_CASE("trials: results are medians, estimates or failures") {
  Trials trials(5);
  for (double time : {30.0, 900.0, 20.0}) trials.add_time(0, time);
  trials.set_estimate(1, 70);
  trials.fail(2, TuningOutcome::wrong);
  trials.fail(3, TuningOutcome::refused);
  trials.leave_out(4);
  CHECK(!trials.next());
  CHECK(trials.result(0)->milliseconds == 30);
  CHECK(trials.result(1)->milliseconds == 70);
  CHECK(trials.result(2)->outcome == TuningOutcome::wrong);
  CHECK(trials.result(3)->outcome == TuningOutcome::refused);
  CHECK(!trials.result(4));
}

TEST_CASE("trials: a candidate that fails is not the best") {
  Trials trials(2);
  trials.add_time(0, 1);
  trials.fail(0, TuningOutcome::refused);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(trials.next() == 1);
    trials.add_time(1, 20);
  }
  CHECK(!trials.next());
  CHECK(trials.result(0)->outcome == TuningOutcome::refused);
}

}  // namespace kaiseki
