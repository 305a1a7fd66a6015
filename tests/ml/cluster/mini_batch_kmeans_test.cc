// SPDX-License-Identifier: MIT
#include "ml/cluster/mini_batch_kmeans.h"

#include "base/error.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"
#include "tests/support/reference.h"
#include "tests/support/seeds.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::MiniBatchKMeans;

TEST_CASE("MiniBatchKMeans: as good as scikit-learn over 20 seeds") {
  const MlCases cases("cluster.txt");
  double worse = 0;
  for (const auto& set :
       std::vector<std::pair<std::string, int64_t>>{{"iris", 3}, {"cancer", 4}, {"digits", 10}}) {
    const std::string name = set.first;
    const int64_t k = set.second;
    CAPTURE(name);
    const MlSet data = ml_set(name);
    Doubles inertias;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      MiniBatchKMeans model({.n_clusters = k, .seed = seed});
      model.fit(data.x);
      inertias.push_back(model.inertia());
    }
    const double errors = errors_above(inertias, cases[name + ".mini_batch"].values, 1e-4);
    CAPTURE(errors);
    CHECK(errors < kMostErrors);
    worse += errors / 3;
  }
  CHECK(worse <= 1);
}

TEST_CASE("MiniBatchKMeans: finds blobs, by fit and by partial_fit") {
  const std::vector<std::vector<float>> centers = {{1000, 0}, {1010, 0}, {1000, 10}};
  const Tensor x = noisy_centers(centers, 6000, 0.5f, 1);
  MiniBatchKMeans whole({.n_clusters = 3});
  whole.fit(x);
  MiniBatchKMeans parts({.n_clusters = 3});
  for (int64_t begin = 0; begin < 6000; begin += 500) parts.partial_fit(x.slice(0, begin, 500));
  for (const MiniBatchKMeans* model : {&whole, &parts}) {
    const Doubles distances = doubles(model->transform(Tensor{{1000, 0}, {1010, 0}, {1000, 10}}));
    for (size_t i = 0; i < 3; ++i)
      CHECK(*std::min_element(distances.begin() + static_cast<int64_t>(i) * 3,
                              distances.begin() + static_cast<int64_t>(i) * 3 + 3) < 0.2);
    CHECK(model->score(x) == doctest::Approx(-6000 * 2 * 0.25).epsilon(0.1));
  }
  CHECK(parts.n_steps() == 12);
  CHECK(parts.labels().dim(0) == 500);
}

TEST_CASE("MiniBatchKMeans: the same seed gives the same result for any number of threads") {
  const Tensor x = random_tensor({3000, 5}, 2);
  MiniBatchKMeans first({.n_clusters = 6, .seed = 4}), second({.n_clusters = 6, .seed = 4}),
      third({.n_clusters = 6, .seed = 5});
  first.fit(x);
  set_thread_count(3);
  second.fit(x);
  set_thread_count(0);
  third.fit(x);
  check_close(second.cluster_centers(), doubles(first.cluster_centers()), 0);
  CHECK(third.inertia() != first.inertia());
}

TEST_CASE("MiniBatchKMeans: errors") {
  CHECK_THROWS_AS(MiniBatchKMeans({.n_clusters = 0}), Error);
  CHECK_THROWS_AS(MiniBatchKMeans({.batch_size = 0}), Error);
  CHECK_THROWS_AS(MiniBatchKMeans({.reassignment_ratio = -1}), Error);
  MiniBatchKMeans model({.n_clusters = 2});
  CHECK_THROWS_AS(model.predict(Tensor{{1, 2}}), Error);
  CHECK_THROWS_AS(model.fit(Tensor{{1, 2}}), ShapeError);
  CHECK_THROWS_AS(model.partial_fit(Tensor{{1, 2}}), ShapeError);
  model.partial_fit(Tensor{{1, 2}, {3, 4}});
  CHECK_THROWS_AS(model.partial_fit(Tensor{{1, 2, 3}}), ShapeError);
  model.partial_fit(Tensor{{1, 2}});
  CHECK(model.n_steps() == 2);
}

TEST_CASE("MiniBatchKMeans: squared distances that f32 cannot hold are an error") {
  const Tensor far{{1e20f, 0}, {-1e20f, 0}, {0, 1e20f}, {0, -1e20f}, {3e20f, 1}};
  MiniBatchKMeans model({.n_clusters = 2});
  model.fit(Tensor{{1, 2}, {3, 4}});
  const int64_t steps = model.n_steps();
  CHECK_THROWS_WITH_AS(
      model.fit(far),
      "[MiniBatchKMeans] the squared distances are too large for f32. Scale the features", Error);
  CHECK_THROWS_AS(model.partial_fit(far), Error);
  CHECK(model.inertia() == 0);
  CHECK(model.n_steps() == steps);
}

TEST_CASE("MiniBatchKMeans: fewer different samples than clusters, one sample, and every device") {
  MiniBatchKMeans model({.n_clusters = 4});
  model.fit(Tensor{{1, 2}, {1, 2}, {1, 2}, {5, 5}, {5, 5}, {5, 5}});
  // A batch may lack one of the samples, so a center may move away from it for some batches.
  CHECK(model.inertia() < 3);  // one cluster has 37.5
  MiniBatchKMeans one({.n_clusters = 1});
  one.fit(Tensor{{3, 4}});
  check_close(one.cluster_centers(), {3, 4}, 1e-6);
  const Tensor x = random_tensor({700, 3}, 9);
  MiniBatchKMeans expected({.n_clusters = 5});
  expected.fit(x);
  for (const Device device : all_devices()) {
    MiniBatchKMeans there({.n_clusters = 5});
    there.fit(x.transpose().contiguous().transpose().to(device));
    CHECK(there.labels().device() == device);
    check_close(there.cluster_centers(), doubles(expected.cluster_centers()), 0);
  }
}
