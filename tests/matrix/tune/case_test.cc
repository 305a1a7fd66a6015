// SPDX-License-Identifier: MIT
#include "matrix/tune/case.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/cache_folder.h"
#include "tests/support/tune_policy.h"

namespace kaiseki {

TEST_CASE("tune case: the first measurement replaces an estimate and scales the others") {
  TuneCase known;
  known.results = {{"a", 10}, {"b", 20}, {"c", 40}};
  known.estimated = {"a", "b", "c"};
  learn(known, {"a", "b", "c"}, {{"b", 60}});
  CHECK(known.results == std::vector<TuningResult>{{"a", 30}, {"b", 60}, {"c", 120}});
  CHECK(!known.is_estimated("b"));
  learn(known, {"a", "b", "c"}, {{"a", 300}});
  CHECK(known.find("c")->milliseconds == 120);
}

TEST_CASE("tune case: a candidate that fails does not scale estimates") {
  TuneCase known;
  known.results = {{"a", 10}, {"b", 20}};
  known.estimated = {"a", "b"};
  learn(known, {"a", "b"}, {{"a", 0, 0, TuningOutcome::refused}});
  CHECK(known.find("b")->milliseconds == 20);
  CHECK(known.find("a")->outcome == TuningOutcome::refused);
}

TEST_CASE("tune table: cleared with the process's measurements, and under an exhaustive policy") {
  const test::WithTunePolicy policy({TuneMode::hybrid});
  TuneTable<std::string> table;
  int made = 0;
  const auto meet = [&] {
    table.at("case", [&] {
      ++made;
      return TuneCase{};
    });
    return made;
  };
  CHECK(meet() == 1);
  CHECK(meet() == 1);
  forget_measurements();
  CHECK(meet() == 2);
  set_tune_policy({TuneMode::cached});
  CHECK(meet() == 2);
  set_tune_policy({TuneMode::exhaustive});
  CHECK(meet() == 3);
}

TEST_CASE("tune policy: which cases are measured") {
  for (TuneMode mode : {TuneMode::off, TuneMode::cached}) CHECK(!measures({mode}, 1e9, 1));
  for (TuneMode mode : {TuneMode::hybrid, TuneMode::amortized}) {
    CHECK(measures({mode}, 5, 5));
    CHECK(!measures({mode}, 4, 5));
  }
  CHECK(measures({TuneMode::exhaustive}, 4, 5));
}

TEST_CASE("tune case: results are stored in the file, with their outcome") {
  const test::CacheFolder folder("tune_case");
  const TuningKey key{"device", "driver", 2, "gemm", "nn"};
  TuneCase known;
  const uint64_t generation = tuning_choice_version();
  merge_and_store(known, key, {"a", "b"}, {{"a", 0, 7, TuningOutcome::wrong}, {"b", 2.5, 8}});
  CHECK(tuning_choice_version() != generation);
  CHECK(recall_tuning(key) == known.results);
  CHECK(all_results_stored());
}

}  // namespace kaiseki
