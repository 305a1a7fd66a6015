// SPDX-License-Identifier: MIT
#include "matrix/tune/choose.h"

#include <doctest/doctest.h>

#include "matrix/ops/copy.h"

namespace kaiseki {

TEST_CASE("choose: the fastest is first, then the untimed, then those that fail") {
  const std::vector<CandidateTime> known{{{}, true}, {}, {5.0}, {{}, true}, {3.0}, {}};
  CHECK(by_speed(known, {}) == std::vector<size_t>{4, 2, 1, 5, 0, 3});
  CHECK(by_speed({}, {}).empty());
  CHECK(by_speed({{{}, true}, {{}, true}}, 0) == std::vector<size_t>{0, 1});
}

TEST_CASE("choose: the favored candidate stays unless another is 5 % faster") {
  CHECK(by_speed({{100.0}, {96.0}}, 0).front() == 0);
  CHECK(by_speed({{100.0}, {94.0}}, 0).front() == 1);
  CHECK(by_speed({{100.0}, {96.0}}, {}).front() == 1);
}

TEST_CASE("choose: a candidate is tried if it has a result, or was tried without one") {
  TuneCase known;
  known.results = {{"wrong", 0, 0, TuningOutcome::wrong}};
  known.tried["without_room"] = 8;
  CHECK(is_tried(known, "wrong"));
  CHECK(is_tried(known, "without_room"));
  CHECK_FALSE(is_tried(known, "new"));
}

TEST_CASE("choose: results have the name and the workspace of their candidate") {
  Trials trials(3);
  trials.set_estimate(0, 2);
  trials.leave_out(1);
  trials.fail(2, TuningOutcome::refused);
  const auto results = results_of(trials, {{"a", 0, 7}, {"b", 0, 8}, {"c", 0, 9}});
  CHECK(results == std::vector<TuningResult>{{"a", 2, 7}, {"c", 0, 9, TuningOutcome::refused}});
}

TEST_CASE("choose: NaN marks elements that a candidate does not write") {
  Tensor t = Tensor::full({3}, 1);
  set_nan(t);
  for (float value : t.to_vector()) CHECK(value != value);
  CHECK(milliseconds_of(t.device().backend(), [&] { fill(t, 2); }) >= 0);
  CHECK(t.to_vector() == std::vector<float>{2, 2, 2});
}

}  // namespace kaiseki
