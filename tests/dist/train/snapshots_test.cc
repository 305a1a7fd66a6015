// SPDX-License-Identifier: MIT
#include "dist/train/snapshots.h"

#include <doctest/doctest.h>

#include "tests/dist/train/fixture.h"
#include "tests/support/tune_policy.h"

namespace kaiseki::dist {
namespace {

const TunePolicy kSame = {.mode = TuneMode::off, .deterministic = true};

}  // namespace

TEST_CASE("training repeats the same steps from a snapshot, also over the end of an epoch") {
  test::WithTunePolicy policy(kSame);
  for (const char* json : {kSmall, kNormalized})
    for (const char* optimizer : {"sgd", "momentum", "adam"}) {
      CAPTURE(optimizer);
      // Ten steps per epoch. Dropout and batch normalization have states.
      Run run({}, {}, 1, json, small_digits(320), {.name = optimizer});
      Snapshots snapshots(*run.updater, 21);
      std::vector<Weights> after;
      for (int i = 0; i < 16; ++i) {
        snapshots.keep();
        run.train(1);
        after.push_back(run.weights());
      }
      CHECK(run.iterator.epoch() == 1);
      for (int64_t step : {15, 7, 0}) {
        const int64_t from = snapshots.restore(step);
        CHECK(from <= step);
        CHECK(from > step - 3);
        CHECK(run.updater->step() == from);
        for (int64_t i = from; i < 16; ++i) {
          run.train(1);
          CHECK(run.weights() == after[static_cast<size_t>(i)]);
        }
        CHECK(run.iterator.epoch() == 1);
        snapshots.keep();
      }
    }
}

TEST_CASE("a ring of eight small snapshots covers the requested steps") {
  Run run;
  Snapshots snapshots(*run.updater, 20);
  CHECK(snapshots.empty());
  for (int i = 0; i < 50; ++i) {
    snapshots.keep();
    CHECK(snapshots.oldest() <= std::max(0, i - 20));
    run.train(1);
  }
  CHECK(snapshots.oldest() >= 50 - 2 * 20);
  CHECK(snapshots.restore(0) == snapshots.oldest());  // older snapshots are overwritten
}

TEST_CASE("with 0 steps there are no snapshots") {
  Run run;
  Snapshots snapshots(*run.updater, 0);
  snapshots.keep();
  CHECK(snapshots.empty());
}

}  // namespace kaiseki::dist
