// SPDX-License-Identifier: MIT
#include "ml/metrics/silhouette.h"

#include "base/error.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

TEST_CASE("silhouette: equals scikit-learn's") {
  const MlCases cases("metrics.txt");
  const MlSet iris = ml_set("iris"), digits = ml_set("digits");
  for (Device device : all_devices()) {
    const MlSet set = iris.to(device);
    CHECK(silhouette_score(set.x, set.y) ==
          doctest::Approx(cases["silhouette.iris"].values[0]).epsilon(1e-6));
    CHECK(difference(silhouette_samples(set.x, set.y), cases["silhouette.iris.samples"].values) <
          1e-6);
  }
  CHECK(silhouette_score(digits.x.slice(0, 0, 700), digits.y.slice(0, 0, 700)) ==
        doctest::Approx(cases["silhouette.digits"].values[0]).epsilon(1e-6));
}

TEST_CASE("silhouette: the same bits for any number of threads, and close samples far from 0") {
  const MlSet set = blobs_set(300, 3, 4, 1);
  const double one = silhouette_score(set.x, set.y);
  set_thread_count(3);
  CHECK(silhouette_score(set.x, set.y) == one);
  set_thread_count(0);
  const Tensor x = floats({10000, 10001, 10004, 10005}, {4, 1}), y = integers({0, 0, 1, 1}, {4});
  CHECK(difference(silhouette_samples(x, y), {3.5 / 4.5, 2.5 / 3.5, 2.5 / 3.5, 3.5 / 4.5}) < 1e-6);
}

TEST_CASE("silhouette: the number of clusters, and a cluster of one sample") {
  const Tensor x = floats({0, 1, 5}, {3, 1});
  CHECK(silhouette_samples(x, integers({0, 0, 7}, {3})).to_vector()[2] == 0);
  CHECK_THROWS_WITH_AS(silhouette_score(x, integers({1, 1, 1}, {3})),
                       "[silhouette_score] expected 2 to n - 1 clusters for n = 3 samples, got 1",
                       ShapeError);
  CHECK_THROWS_AS(silhouette_score(x, integers({0, 1, 2}, {3})), ShapeError);
  CHECK_THROWS_AS(silhouette_score(x, integers({0, 1}, {2})), ShapeError);
}
