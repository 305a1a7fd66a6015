// SPDX-License-Identifier: MIT
// The number of runs that measuring makes of a solver, and their images. Slow solvers must cost
// little.
#include "matrix/conv/measure.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "matrix/memory/allocator.h"
#include "tests/matrix/backend/bare/timed_solver.h"

namespace kaiseki {
namespace {

using test::TimedSolver;

constexpr uint64_t kMiB = 1 << 20;

/// Measures the solvers on seven images.
std::vector<TuningResult> measure(const std::vector<const ConvSolver*>& solvers) {
  test::Problem p;
  ConvMeasurement measurement(test::bare_backend(), p.problem, solvers);
  measurement.run({.x = &p.x, .filter = &p.filter, .y = &p.y});
  return measurement.results();
}

int64_t runs_on(const TimedSolver& solver, int64_t images) {
  return std::count(solver.images.begin(), solver.images.end(), images);
}

}  // namespace

// Each solver is checked once and timed three times on one image, then checked once on all images.
TEST_CASE("measuring: three timed runs, or seven for fast solvers") {
  const TimedSolver slow("slow", 0, 3), quick("quick", 0, 0);
  measure({&slow});
  CHECK(runs_on(slow, 1) == 4);
  CHECK(runs_on(slow, 7) == 1 + 3);
  measure({&quick});
  CHECK(runs_on(quick, 1) == 4);
  CHECK(runs_on(quick, 7) == 1 + 7);
}

TEST_CASE("measuring: a solver over 1.5 times the best time is not run again, except the first") {
  const TimedSolver best("best", 0, 3), loser("loser", 0, 9);
  measure({&best, &loser});
  CHECK(runs_on(best, 7) == 1 + 3);
  CHECK(runs_on(loser, 7) == 1 + 1);
  loser.images.clear();
  measure({&loser, &best});
  CHECK(runs_on(loser, 7) == 1 + 3);
}

TEST_CASE("measuring: a solver that is far too slow on one image is not run on all") {
  const TimedSolver best("best", 0, 1), hopeless("hopeless", 0, 60), slow("slow", 0, 15);
  const auto results = measure({&best, &hopeless, &slow});
  CHECK(hopeless.images == std::vector<int64_t>{1, 1, 1, 1});
  REQUIRE(results.size() == 3);
  CHECK(results[1].milliseconds >= 7 * 60);  // estimated from one image
  CHECK(runs_on(slow, 7) == 1 + 1);          // 105 ms is below the limit for every best time
  const TimedSolver long_one("long", 0, 12), not_longer("not longer", 0, 36);
  measure({&long_one, &not_longer});
  CHECK(runs_on(not_longer, 7) == 1 + 1);  // over 200 ms, but under 6 times the best
}

TEST_CASE("measuring: a slower solver does not use a workspace above 64 MiB") {
  test::bare_device().memory().trim();
  const TimedSolver best("best", 0, 2), moderate("moderate", 9 * kMiB, 6),
      large("large", 10 * kMiB, 6);
  const auto results = measure({&best, &moderate, &large});
  CHECK(runs_on(moderate, 7) == 1 + 1);
  CHECK(large.images == std::vector<int64_t>{1, 1, 1, 1});
  REQUIRE(results.size() == 3);
  CHECK(results[2].workspace == 70 * kMiB);
  CHECK(results[2].milliseconds >= 7 * 6);
}

}  // namespace kaiseki
