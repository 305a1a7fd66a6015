// SPDX-License-Identifier: MIT
#include "ml/neighbors/nearest_neighbors.h"

#include <limits>
#include <utility>

#include "base/error.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/ml_cases.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::NearestNeighbors;
using ml::Neighbors;
using ml::NeighborsAlgorithm;
using ml::RadiusNeighbors;

namespace {

constexpr NeighborsAlgorithm kBoth[] = {NeighborsAlgorithm::brute, NeighborsAlgorithm::kd_tree};

/// Distances and indices of all samples for each query, sorted.
std::vector<std::vector<std::pair<double, int32_t>>> plain_search(const Tensor& x,
                                                                  const Tensor& queries) {
  const Doubles a = doubles(queries), b = doubles(x);
  const int64_t features = x.dim(1);
  std::vector<std::vector<std::pair<double, int32_t>>> result(static_cast<size_t>(queries.dim(0)));
  for (size_t i = 0; i < result.size(); ++i) {
    for (int64_t j = 0; j < x.dim(0); ++j) {
      double sum = 0;
      for (int64_t f = 0; f < features; ++f)
        sum += std::pow(a[i * features + f] - b[j * features + f], 2);
      result[i].push_back({std::sqrt(sum), static_cast<int32_t>(j)});
    }
    std::sort(result[i].begin(), result[i].end());
  }
  return result;
}

/// The samples whose number is a multiple of 5, and the others.
std::pair<Tensor, Tensor> split(const Tensor& x) {
  std::vector<float> test, train;
  const float* values = x.data<float>();
  for (int64_t i = 0; i < x.dim(0); ++i)
    (i % 5 == 0 ? test : train)
        .insert((i % 5 == 0 ? test : train).end(), values + i * x.dim(1),
                values + (i + 1) * x.dim(1));
  const auto rows = [&](const std::vector<float>& v) {
    return Tensor::from(std::span<const float>(v),
                        {static_cast<int64_t>(v.size()) / x.dim(1), x.dim(1)}, Device::cpu());
  };
  return {rows(test), rows(train)};
}

}  // namespace

TEST_CASE("NearestNeighbors: the distances of scikit-learn") {
  const MlCases cases("neighbors.txt");
  for (const std::string name : {"iris", "cancer", "digits"}) {
    CAPTURE(name);
    const MlSet data = ml_set(name);
    const auto parts = split(data.x);
    for (const NeighborsAlgorithm algorithm : kBoth) {
      NearestNeighbors model(
          {.n_neighbors = 4, .radius = cases.number(name + ".radius"), .algorithm = algorithm});
      model.fit(parts.second);
      const Neighbors found = model.kneighbors(parts.first.slice(0, 0, 20));
      check_close(found.distances, cases[name + ".distances"].values, 1e-4, 1e-5);
      const std::vector<int32_t> starts =
          model.radius_neighbors(parts.first).starts.to_vector<int32_t>();
      const Doubles counts = cases[name + ".counts"].values;
      for (size_t i = 0; i < counts.size(); ++i)
        CHECK(starts[i + 1] - starts[i] == static_cast<int32_t>(counts[i]));
    }
  }
}

TEST_CASE("NearestNeighbors: plain search, by both algorithms, for many shapes") {
  for (const int64_t features : {1, 2, 3, 8, 19, 40})
    for (const int64_t n : {1, 2, 30, 31, 700, 2500}) {
      CAPTURE(features);
      CAPTURE(n);
      const Tensor x = random_tensor({n, features}, static_cast<uint64_t>(n)),
                   queries = random_tensor({11, features}, 5);
      const auto expected = plain_search(x, queries);
      const int64_t k = std::min<int64_t>(n, 6);
      const double radius = 0.3 * std::sqrt(static_cast<double>(features));
      for (const NeighborsAlgorithm algorithm : kBoth) {
        NearestNeighbors model({.algorithm = algorithm, .leaf_size = 4});
        model.fit(x);
        const Neighbors found = model.kneighbors(queries, k);
        const RadiusNeighbors near = model.radius_neighbors(queries, radius);
        for (int64_t i = 0; i < 11; ++i) {
          for (int64_t j = 0; j < k; ++j) {
            CHECK(found.indices(i, j) == expected[i][j].second);
            CHECK(found.distances(i, j) == doctest::Approx(expected[i][j].first).epsilon(1e-5));
          }
          int64_t count = 0;
          for (const auto& pair : expected[i]) count += pair.first <= radius;
          CHECK(near.starts(i + 1) - near.starts(i) == count);
          const auto first = static_cast<int64_t>(near.starts(i));
          for (int64_t j = 0; j < count; ++j)
            CHECK(near.indices(first + j) == expected[i][j].second);
        }
      }
    }
}

TEST_CASE("NearestNeighbors: a sample is not its own neighbor") {
  const Tensor x{{0, 0}, {0, 0}, {1, 0}, {5, 0}};
  for (const NeighborsAlgorithm algorithm : kBoth) {
    NearestNeighbors model({.n_neighbors = 2, .radius = 1, .algorithm = algorithm, .leaf_size = 1});
    model.fit(x);
    const Neighbors found = model.kneighbors_of_samples();
    check_close(found.indices, {1, 2, 0, 2, 0, 1, 2, 0}, 0);
    check_close(found.distances, {0, 1, 0, 1, 1, 1, 4, 5}, 1e-6);
    const RadiusNeighbors near = model.radius_neighbors_of_samples();
    check_close(near.starts, {0, 2, 4, 6, 6}, 0);
    check_close(near.indices, {1, 2, 0, 2, 0, 1}, 0);
    CHECK(model.radius_neighbors(Tensor{{9, 9}}).indices.dim(0) == 0);
  }
}

TEST_CASE("NearestNeighbors: radius has an effect, unlike in the original") {
  const Tensor x{{0, 0}, {3, 0}, {7, 0}};
  NearestNeighbors model({.radius = 3.5});
  model.fit(x);
  check_close(model.radius_neighbors(Tensor{{0, 0}}).distances, {0, 3}, 1e-6);
  check_close(model.radius_neighbors(Tensor{{0, 0}}, 2).distances, {0}, 1e-6);
}

TEST_CASE("NearestNeighbors: equal samples, in the order of their indices") {
  const Tensor x = Tensor::full({600, 2}, 3, Device::cpu());
  for (const NeighborsAlgorithm algorithm : kBoth) {
    NearestNeighbors model({.n_neighbors = 3, .algorithm = algorithm});
    model.fit(x);
    check_close(model.kneighbors(Tensor{{3, 3}}).indices, {0, 1, 2}, 0);
    check_close(model.kneighbors(Tensor{{3, 4}}).indices, {0, 1, 2}, 0);
  }
}

TEST_CASE("NearestNeighbors: any number of threads, any device") {
  const Tensor x = random_tensor({3000, 5}, 6), queries = random_tensor({500, 5}, 7);
  for (const NeighborsAlgorithm algorithm : kBoth) {
    NearestNeighbors model({.algorithm = algorithm});
    model.fit(x);
    const Neighbors expected = model.kneighbors(queries);
    set_thread_count(3);
    check_close(model.kneighbors(queries).indices, doubles(expected.indices), 0);
    set_thread_count(0);
    for (const Device device : all_devices()) {
      NearestNeighbors there({.algorithm = algorithm});
      there.fit(x.to(device));
      const Neighbors found = there.kneighbors(queries.to(device));
      CHECK(found.indices.device() == device);
      check_close(found.indices, doubles(expected.indices), 0);
    }
  }
}

TEST_CASE("NearestNeighbors: brute search on every device, for many shapes") {
  for_each_device([](Device device) {
    for (const int64_t n : {9, 17, 700, 9001})
      for (const int64_t features : {1, 3, 37}) {
        CAPTURE(n);
        CAPTURE(features);
        const auto seed = static_cast<uint64_t>(n + features);
        const Tensor x = random_tensor({n, features}, seed);
        const Tensor queries = random_tensor({11, features}, seed + 1);
        NearestNeighbors model({.algorithm = NeighborsAlgorithm::brute});
        model.fit(x.to(device));
        CHECK(model.samples().device() == device);
        for (const int64_t count : {int64_t{1}, int64_t{5}, std::min<int64_t>(n, 80)}) {
          const auto expected = plain_search(x, queries);
          const Neighbors found = model.kneighbors(queries.to(device), count);
          CHECK(found.distances.device() == device);
          const Doubles distances = doubles(found.distances);
          const std::vector<int32_t> indices = found.indices.to_vector<int32_t>();
          int64_t different = 0;
          for (int64_t i = 0; i < 11; ++i)
            for (int64_t j = 0; j < count; ++j) {
              CHECK(std::abs(distances[i * count + j] - expected[i][j].first) <= 1e-5);
              different += indices[i * count + j] != expected[i][j].second;
            }
          CHECK(different <= 2 * 11);  // of nearly equal distances, which f32 may exchange
        }
        const Neighbors own = model.kneighbors_of_samples(3);
        for (int64_t i = 0; i < std::min<int64_t>(n, 50); ++i)
          for (int64_t j = 0; j < 3; ++j) CHECK(own.indices(i, j) != i);
        const RadiusNeighbors within = model.radius_neighbors(queries.to(device), 0.5);
        CHECK(within.starts.device() == device);
      }
  });
}

TEST_CASE("NearestNeighbors: on every device, equal samples and a large mean") {
  for_each_device([](Device device) {
    NearestNeighbors equal({.n_neighbors = 3, .algorithm = NeighborsAlgorithm::brute});
    equal.fit(Tensor::full({600, 2}, 3, device));
    check_close(equal.kneighbors(Tensor{{3, 3}, {3, 4}}.to(device)).indices, {0, 1, 2, 0, 1, 2}, 0);
    std::vector<float> values = random_tensor({400, 4}, 8).to_vector();
    for (float& value : values) value = 5000 + std::round(value * 100);
    const Tensor x = Tensor::from(std::span<const float>(values), {400, 4}, Device::cpu());
    const auto expected = plain_search(x, x.slice(0, 0, 20));
    NearestNeighbors far({.algorithm = NeighborsAlgorithm::brute});
    far.fit(x.to(device));
    const Neighbors found = far.kneighbors(x.slice(0, 0, 20).to(device));
    for (int64_t i = 0; i < 20; ++i)
      for (int64_t j = 0; j < 5; ++j) CHECK(found.indices(i, j) == expected[i][j].second);
  });
}

TEST_CASE("NearestNeighbors: from a device only candidates come to the host") {
  for_each_device([](Device device) {
    if (device.is_cpu()) return;
    NearestNeighbors model({.algorithm = NeighborsAlgorithm::brute});
    const auto bytes = [&](int64_t n) {
      model.fit(random_tensor({n, 6}, 1, device));
      const Tensor queries = random_tensor({30, 6}, 2, device);
      const uint64_t before = transfer_count().to_host_bytes;
      model.kneighbors(queries);
      return transfer_count().to_host_bytes - before;
    };
    bytes(1000), bytes(20000);  // products of these shapes are measured once
    CHECK(bytes(1000) == bytes(20000));
    CHECK(bytes(1000) < 30 * 13 * 8 + 100);  // 5 neighbors and 8 more candidates
  });
}

TEST_CASE("NearestNeighbors: errors") {
  CHECK_THROWS_AS(NearestNeighbors({.n_neighbors = 0}), Error);
  CHECK_THROWS_AS(NearestNeighbors({.radius = -1}), Error);
  CHECK_THROWS_AS(NearestNeighbors({.leaf_size = 0}), Error);
  NearestNeighbors model;
  CHECK_THROWS_AS(model.kneighbors(Tensor{{1, 2}}), Error);
  CHECK_THROWS_AS(model.fit(Tensor::zeros({0, 2})), ShapeError);
  CHECK_THROWS_AS(model.fit(Tensor{{std::numeric_limits<float>::infinity()}}), Error);
  model.fit(Tensor{{1, 2}, {3, 4}, {5, 6}});
  CHECK_THROWS_WITH_AS(model.kneighbors(Tensor{{1, 2}}),
                       "[NearestNeighbors] expected n_neighbors of at most 3 for 3 samples, got 5",
                       ShapeError);
  CHECK_THROWS_AS(model.kneighbors_of_samples(3), ShapeError);
  CHECK_THROWS_AS(model.kneighbors(Tensor{{1, 2}}, 0), Error);
  CHECK_THROWS_AS(model.kneighbors(Tensor{{1, 2, 3}}, 1), ShapeError);
  CHECK_THROWS_AS(model.radius_neighbors(Tensor{{1, 2}}, -1), Error);
}

TEST_CASE("NearestNeighbors: constant columns, and x that is not contiguous") {
  std::vector<float> values = random_tensor({400, 4}, 8).to_vector();
  for (size_t i = 0; i < 400; ++i) values[i * 4 + 2] = 1e6f;
  const Tensor x = Tensor::from(std::span<const float>(values), {400, 4}, Device::cpu());
  const Tensor across = x.transpose().contiguous().transpose();
  REQUIRE_FALSE(across.is_contiguous());
  const auto expected = plain_search(x, x.slice(0, 0, 20));
  for (const NeighborsAlgorithm algorithm : kBoth) {
    NearestNeighbors model({.algorithm = algorithm});
    model.fit(across);
    const Neighbors found = model.kneighbors(across.slice(0, 0, 20));
    for (int64_t i = 0; i < 20; ++i)
      for (int64_t j = 0; j < 5; ++j) CHECK(found.indices(i, j) == expected[i][j].second);
  }
}
