// SPDX-License-Identifier: MIT
// k-means on 20 sets of different shapes, against scikit-learn.
#include "ml/cluster/kmeans.h"
#include "ml/cluster/mini_batch_kmeans.h"
#include "tests/support/synthetic_sets.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

TEST_CASE("KMeans: from given centers, equal to scikit-learn's within 1e-4 on 20 synthetic sets") {
  const MlCases cases("synthetic_cluster.txt");
  for (int i = 0; i < kSyntheticSets; ++i) {
    const std::string name = std::to_string(i);
    CAPTURE(name);
    const Tensor x = synthetic_classes(i).x;
    const int64_t k = 3 + i % 5;
    KMeans model({.n_clusters = k, .centers = x.slice(0, 0, k), .max_iter = 1000, .tol = 0});
    model.fit(x);
    CHECK(difference({model.inertia()}, cases[name + ".inertia"].values) < 1e-4);
    CHECK(difference(model.cluster_centers(), cases[name + ".centers"].values) < 1e-4);
    std::vector<double> counts(static_cast<size_t>(k));
    for (int32_t label : model.labels().to_vector<int32_t>()) ++counts[static_cast<size_t>(label)];
    CHECK(difference(counts, cases[name + ".counts"].values) == 0);
  }
}

TEST_CASE("KMeans and MiniBatchKMeans: on 20 synthetic sets, as scikit-learn over 20 seeds") {
  const MlCases cases("synthetic_cluster.txt");
  SeedComparison whole(cases), batches(cases);
  for (int i = 0; i < kSyntheticSets; ++i) {
    const Tensor x = synthetic_classes(i).x;
    const int64_t k = 3 + i % 5;
    whole.add(std::to_string(i) + ".kmeans", [&](uint64_t seed) {
      KMeans model({.n_clusters = k, .n_init = 1, .seed = seed});
      model.fit(x);
      return model.inertia();
    });
    batches.add(std::to_string(i) + ".mini_batch", [&](uint64_t seed) {
      MiniBatchKMeans model({.n_clusters = k, .batch_size = 32, .n_init = 1, .seed = seed});
      model.fit(x);
      return model.inertia();
    });
  }
  whole.check();
  batches.check();
}
