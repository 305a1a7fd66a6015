// SPDX-License-Identifier: MIT
#include "ml/cluster/kmeans.h"

#include <limits>
#include <set>
#include <utility>

#include "base/error.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"
#include "tests/support/reference.h"
#include "tests/support/seeds.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::KMeans;
using ml::KMeansAlgorithm;

namespace {

// The data sets, with their numbers of clusters.
const std::vector<std::pair<std::string, int64_t>> kSets = {
    {"iris", 3}, {"cancer", 4}, {"digits", 10}};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// The start of make_ml_cluster_cases.py: samples with noise.
Tensor start_of(const Tensor& x, int64_t k) {
  const int64_t features = x.dim(1), step = x.dim(0) / k;
  Doubles values = doubles(x(Slice(0, k * step, step)));
  const Doubles noise = lcg_numbers(k * features, 3);
  for (size_t i = 0; i < values.size(); ++i) values[i] += noise[i] / 8;
  return floats(values, {k, features});
}

Doubles counts_of(const Tensor& labels, int64_t clusters) {
  Doubles counts(static_cast<size_t>(clusters));
  for (const int32_t label : labels.to_vector<int32_t>()) ++counts[static_cast<size_t>(label)];
  return counts;
}

/// The sum of squared distances to the nearest center, in double.
double plain_inertia(const Tensor& x, const Tensor& centers) {
  const Doubles samples = doubles(x), to = doubles(centers);
  const int64_t features = x.dim(1);
  double sum = 0;
  for (int64_t i = 0; i < x.dim(0); ++i) {
    double best = std::numeric_limits<double>::infinity();
    for (int64_t j = 0; j < centers.dim(0); ++j) {
      double distance = 0;
      for (int64_t f = 0; f < features; ++f) {
        const double d = samples[i * features + f] - to[j * features + f];
        distance += d * d;
      }
      best = std::min(best, distance);
    }
    sum += best;
  }
  return sum;
}

}  // namespace

TEST_CASE("KMeans: from given centers, the result of scikit-learn on every device") {
  const MlCases cases("cluster.txt");
  for (const auto& set : kSets) {
    const std::string name = set.first;
    const int64_t k = set.second;
    CAPTURE(name);
    for_each_device([&](Device device) {
      const Tensor x = ml_set(name).x.to(device);
      for (const auto algorithm : {KMeansAlgorithm::hamerly, KMeansAlgorithm::lloyd}) {
        KMeans model({.n_clusters = k,
                      .centers = start_of(ml_set(name).x, k),
                      .max_iter = 1000,
                      .tol = 0,
                      .algorithm = algorithm});
        model.fit(x);
        CHECK(model.labels().device() == device);
        CHECK(model.cluster_centers().device() == device);
        CHECK(model.inertia() == doctest::Approx(cases.number(name + ".inertia")).epsilon(1e-4));
        check_close(counts_of(model.labels(), k), cases[name + ".counts"].values, 0);
        const int64_t columns = std::min<int64_t>(8, x.dim(1));
        check_close(model.cluster_centers().slice(1, 0, columns).contiguous(),
                    cases[name + ".centers"].values, 1e-4, 1e-4);
        CHECK(model.score(x) == doctest::Approx(-model.inertia()).epsilon(1e-5));
        CHECK(model.inertia() ==
              doctest::Approx(plain_inertia(x, model.cluster_centers())).epsilon(1e-5));
      }
    });
  }
}

TEST_CASE("KMeans: on a device, the transfers of an iteration do not grow with the samples") {
  for_each_device([](Device device) {
    const auto bytes_of_iterations = [&](int64_t n, int64_t iterations) {
      const Tensor x = random_tensor({n, 7}, 1, device);
      KMeans model({.n_clusters = 5,
                    .centers = x.slice(0, 0, 5).contiguous(),
                    .max_iter = iterations,
                    .tol = 0});
      const uint64_t before = transfer_count().to_host_bytes;
      model.fit(x);
      CHECK(model.n_iter() == iterations);
      return transfer_count().to_host_bytes - before;
    };
    // The difference is that of one iteration.
    const uint64_t few = bytes_of_iterations(1000, 3) - bytes_of_iterations(1000, 2);
    CHECK(few == (device.is_cpu() ? 0 : 5 * 8 * sizeof(float)));
    CHECK(bytes_of_iterations(9000, 3) - bytes_of_iterations(9000, 2) == few);
  });
}

TEST_CASE("KMeans: on every device, empty clusters, equal samples, a large mean and transform") {
  for_each_device([](Device device) {
    const Tensor blobs = noisy_centers({{0, 0}, {10, 0}}, 200, 0.5f, 5).to(device);
    KMeans empty({.n_clusters = 3, .centers = Tensor{{0, 0}, {10, 0}, {1000, 1000}}});
    empty.fit(blobs);
    for (const double count : counts_of(empty.labels(), 3)) CHECK(count > 0);
    CHECK(empty.inertia() ==
          doctest::Approx(plain_inertia(blobs, empty.cluster_centers())).epsilon(1e-4));
    const Tensor same = Tensor{{1, 2}, {1, 2}, {1, 2}, {5, 5}, {5, 5}, {5, 5}}.to(device);
    KMeans equal({.n_clusters = 4});
    equal.fit(same);
    CHECK(equal.inertia() == 0);
    CHECK(equal.labels()(0) == equal.labels()(2));
    CHECK(equal.labels()(0) != equal.labels()(3));
    const Tensor far =
        noisy_centers({{10000, 20000}, {10003, 20000}, {10000, 20003}}, 600, 0.25f, 6);
    KMeans large({.n_clusters = 3});
    large.fit(far.to(device));
    check_close(counts_of(large.labels(), 3), {200, 200, 200}, 0);
    check_close(large.predict(far.to(device)), doubles(large.labels()), 0);
    KMeans two({.n_clusters = 2, .centers = Tensor{{0, 0}, {8, 0}}});
    two.fit(Tensor{{0, 0}, {8, 0}}.to(device));
    check_close(two.transform(Tensor{{3, 4}, {8, 6}}.to(device)), {5, std::sqrt(41.0), 10, 6},
                1e-6);
    KMeans random({.n_clusters = 9, .init = ml::KMeansInit::random, .n_init = 1});
    random.fit(random_tensor({50, 3}, 1, device));
    CHECK(std::isfinite(random.inertia()));
  });
}

TEST_CASE("KMeans: from k-means++, as good as scikit-learn over 20 seeds") {
  const MlCases cases("cluster.txt");
  double worse = 0;
  for (const auto& set : kSets) {
    const std::string name = set.first;
    const int64_t k = set.second;
    CAPTURE(name);
    const MlSet data = ml_set(name);
    Doubles inertias;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      KMeans model({.n_clusters = k, .n_init = 1, .seed = seed});
      model.fit(data.x);
      inertias.push_back(model.inertia());
    }
    const double errors = errors_above(inertias, cases[name + ".inertias"].values, 1e-4);
    CAPTURE(errors);
    CHECK(errors < kMostErrors);
    worse += errors / static_cast<double>(std::size(kSets));
  }
  CHECK(worse <= 1);
}

TEST_CASE("KMeans: bounds change no label, for many shapes") {
  for (const int64_t features : {1, 2, 3, 17, 64})
    for (const int64_t k : {1, 2, 7, 40}) {
      CAPTURE(features);
      CAPTURE(k);
      const Tensor x = random_tensor({1537, features}, static_cast<uint64_t>(features * 100 + k));
      KMeans fast({.n_clusters = k, .n_init = 1, .tol = 0});
      KMeans plain({.n_clusters = k, .n_init = 1, .tol = 0, .algorithm = KMeansAlgorithm::lloyd});
      fast.fit(x);
      plain.fit(x);
      CHECK(fast.inertia() == doctest::Approx(plain.inertia()).epsilon(1e-5));
      CHECK(fast.n_iter() == plain.n_iter());
      const Doubles labels = doubles(fast.labels()), predicted = doubles(fast.predict(x));
      int64_t different = 0;
      for (size_t i = 0; i < labels.size(); ++i) different += labels[i] != predicted[i];
      CHECK(different <= 2);  // of samples between two centers
    }
}

TEST_CASE("KMeans: it stops before max_iter, unlike the original") {
  const MlSet data = ml_set("iris");
  KMeans model({.n_clusters = 3, .n_init = 1});
  model.fit(data.x);
  CHECK(model.n_iter() < 50);
  CHECK(model.n_iter() > 0);
}

TEST_CASE("KMeans: random starts use all samples, unlike the first ones of the original") {
  const Tensor x = random_tensor({500, 1}, 1);
  std::set<double> centers;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    KMeans model({.n_clusters = 1, .init = ml::KMeansInit::random, .n_init = 1, .seed = seed});
    model.fit(x);
    centers.insert(model.inertia());
  }
  CHECK(centers.size() <= 2);  // the start does not matter for one cluster
  std::set<double> inertias;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    KMeans model({.n_clusters = 20,
                  .init = ml::KMeansInit::random,
                  .n_init = 1,
                  .max_iter = 1,
                  .seed = seed});
    model.fit(x);
    inertias.insert(model.inertia());
  }
  CHECK(inertias.size() >= 29);
}

TEST_CASE("KMeans: k-means++ weighs all centers, unlike only the last one of the original") {
  // With the distance to the last center only, a start would often return to a blob.
  const Tensor x = noisy_centers({{0, 0}, {100, 0}, {0, 100}, {100, 100}}, 400, 0.5f, 3);
  int64_t found = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    KMeans model({.n_clusters = 4, .n_init = 1, .seed = seed});
    model.fit(x);
    found += model.inertia() < 400 * 2 * 0.25 * 1.5;
  }
  CHECK(found == 20);
}

TEST_CASE("KMeans: distances above 100000 are no limit, unlike in the original") {
  const Tensor x = noisy_centers({{0, 0}, {4e6f, 0}, {0, 9e6f}}, 300, 1, 4);
  KMeans model({.n_clusters = 3});
  model.fit(x);
  check_close(counts_of(model.labels(), 3), {100, 100, 100}, 0);
}

TEST_CASE("KMeans: an empty cluster gets a far sample, and does not throw as in the original") {
  const Tensor x = noisy_centers({{0, 0}, {10, 0}}, 200, 0.5f, 5);
  // The third center is nearest to no sample.
  KMeans model({.n_clusters = 3, .centers = Tensor{{0, 0}, {10, 0}, {1000, 1000}}});
  model.fit(x);
  for (const double count : counts_of(model.labels(), 3)) CHECK(count > 0);
  CHECK(model.inertia() ==
        doctest::Approx(plain_inertia(x, model.cluster_centers())).epsilon(1e-4));
}

TEST_CASE("KMeans: fewer different samples than clusters") {
  const Tensor x{{1, 2}, {1, 2}, {1, 2}, {5, 5}, {5, 5}, {5, 5}};
  KMeans model({.n_clusters = 4});
  model.fit(x);
  CHECK(model.inertia() == doctest::Approx(0));
  CHECK(model.labels()(0) == model.labels()(2));
  CHECK(model.labels()(0) != model.labels()(3));
  CHECK_FALSE(std::isnan(model.cluster_centers()(3, 0)));
}

TEST_CASE("KMeans: a large mean costs no accuracy") {
  const Tensor x = noisy_centers({{10000, 20000}, {10003, 20000}, {10000, 20003}}, 600, 0.25f, 6);
  KMeans model({.n_clusters = 3});
  model.fit(x);
  check_close(counts_of(model.labels(), 3), {200, 200, 200}, 0);
  check_close(model.predict(x), doubles(model.labels()), 0);
}

TEST_CASE("KMeans: transform gives distances") {
  KMeans model({.n_clusters = 2, .centers = Tensor{{0, 0}, {8, 0}}});
  model.fit(Tensor{{0, 0}, {8, 0}});
  check_close(model.transform(Tensor{{3, 4}, {8, 6}}), {5, std::sqrt(41.0), 10, 6}, 1e-6);
  check_close(model.predict(Tensor{{3, 4}, {8, 6}}), {0, 1}, 0);
}

TEST_CASE("KMeans: the result does not depend on the number of threads, and hardly on the device") {
  const Tensor x = random_tensor({5000, 11}, 7);
  KMeans first({.n_clusters = 9, .n_init = 2});
  first.fit(x);
  set_thread_count(3);
  KMeans second({.n_clusters = 9, .n_init = 2});
  second.fit(x);
  set_thread_count(0);
  check_close(second.cluster_centers(), doubles(first.cluster_centers()), 0);
  CHECK(second.inertia() == first.inertia());
  for (const Device device : all_devices()) {
    KMeans there({.n_clusters = 9, .n_init = 2});
    there.fit(x.to(device));
    CHECK(there.labels().device() == device);
    CHECK(there.cluster_centers().device() == device);
    // The device adds samples in another order.
    check_close(there.cluster_centers(), doubles(first.cluster_centers()), 1e-4, 1e-5);
    CHECK(there.inertia() == doctest::Approx(first.inertia()).epsilon(1e-5));
  }
}

TEST_CASE("KMeans: errors") {
  CHECK_THROWS_AS(KMeans({.n_clusters = 0}), Error);
  CHECK_THROWS_AS(KMeans({.n_init = 0}), Error);
  CHECK_THROWS_AS(KMeans({.max_iter = 0}), Error);
  CHECK_THROWS_AS(KMeans({.tol = -1}), Error);
  KMeans model({.n_clusters = 2});
  CHECK_THROWS_WITH_AS(model.predict(Tensor{{1, 2}}),
                       "[KMeans] expected a fitted model, call fit() first", Error);
  CHECK_THROWS_AS(model.inertia(), Error);
  CHECK_THROWS_AS(model.fit(Tensor()), ShapeError);
  CHECK_THROWS_AS(model.fit(Tensor::zeros({3})), ShapeError);
  CHECK_THROWS_AS(model.fit(Tensor::zeros({0, 2})), ShapeError);
  CHECK_THROWS_AS(model.fit(Tensor::zeros({3, 0})), ShapeError);
  CHECK_THROWS_AS(model.fit(Tensor::zeros({3, 2}, DType::i32)), ShapeError);
  CHECK_THROWS_WITH_AS(model.fit(Tensor{{1, 2}}),
                       "[KMeans::fit] expected at least 2 samples for n_clusters 2, got 1",
                       ShapeError);
  CHECK_THROWS_AS(model.fit(Tensor{{1, 2}, {kNan, 2}}), Error);
  CHECK_THROWS_AS(model.fit(Tensor{{1, 2}, {std::numeric_limits<float>::infinity(), 2}}), Error);
  CHECK_THROWS_AS(KMeans({.n_clusters = 2, .centers = Tensor{{1, 2}}}).fit(Tensor{{1, 2}, {3, 4}}),
                  ShapeError);
  model.fit(Tensor{{1, 2}, {3, 4}});
  CHECK_THROWS_AS(model.predict(Tensor{{1, 2, 3}}), ShapeError);
  CHECK_THROWS_AS(model.predict(Tensor{{1, kNan}}), Error);
}

TEST_CASE("KMeans: squared distances that f32 cannot hold are an error, and the model stays") {
  const Tensor far{{1e20f, 0}, {-1e20f, 0}, {0, 1e20f}, {0, -1e20f}, {3e20f, 1}};
  for (const Device device : all_devices()) {
    KMeans model({.n_clusters = 2});
    model.fit(Tensor{{1, 2}, {3, 4}}.to(device));
    CHECK_THROWS_WITH_AS(
        model.fit(far.to(device)),
        "[KMeans::fit] the squared distances are too large for f32. Scale the features", Error);
    CHECK(model.inertia() == 0);
    CHECK(model.labels().dim(0) == 2);
  }
}

TEST_CASE("KMeans: one sample, constant columns, and x that is not contiguous") {
  KMeans one({.n_clusters = 1});
  one.fit(Tensor{{3, 4}});
  check_close(one.cluster_centers(), {3, 4}, 0);
  CHECK(one.inertia() == 0);
  const Tensor x = noisy_centers({{0, 7, 0}, {9, 7, 1}}, 60, 0.5f, 8);
  KMeans expected({.n_clusters = 2}), strided({.n_clusters = 2});
  expected.fit(x);
  CHECK(expected.inertia() < 60 * 3);
  const Tensor across = x.transpose().contiguous().transpose();
  REQUIRE_FALSE(across.is_contiguous());
  strided.fit(across);
  check_close(strided.cluster_centers(), doubles(expected.cluster_centers()), 0);
  check_close(strided.transform(across), doubles(expected.transform(x)), 0);
}
