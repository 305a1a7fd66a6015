// SPDX-License-Identifier: MIT
#include "matrix/ops/cluster.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

namespace kaiseki {
namespace {

using test::for_each_device;
using test::random_tensor;

double plain_square(const std::vector<float>& x, const std::vector<float>& y, int64_t i, int64_t j,
                    int64_t features) {
  double sum = 0;
  for (int64_t f = 0; f < features; ++f) {
    const double step = static_cast<double>(x[i * features + f]) - y[j * features + f];
    sum += step * step;
  }
  return sum;
}

Tensor labels_below(int64_t n, int64_t count, Device device) {
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < n; ++i) labels.push_back(static_cast<int32_t>(i * 7 % count));
  return Tensor::from(std::span<const int32_t>(labels), {n}, device);
}

}  // namespace

TEST_CASE("cluster: distances and nearest centers as plain loops, on odd shapes") {
  for_each_device([](Device device) {
    for (const int64_t n : {1, 15, 16, 17, 131})
      for (const int64_t features : {1, 3, 20, 64, 67, 161})
        for (const int64_t count : {1, 2, 7, 12, 13, 40}) {
          CAPTURE(n);
          CAPTURE(features);
          CAPTURE(count);
          const Tensor x = random_tensor({n, features}, 1, device);
          const Tensor y = random_tensor({count, features}, 2, device);
          const std::vector<float> a = x.to_vector(), b = y.to_vector();
          const std::vector<float> distances = squared_distances(x, y).to_vector();
          const NearestLabels nearest = nearest_labels(x, y);
          const std::vector<int32_t> labels = nearest.labels.to_vector<int32_t>();
          const std::vector<float> squares = nearest.squares.to_vector();
          for (int64_t i = 0; i < n; ++i) {
            double least = std::numeric_limits<double>::infinity();
            for (int64_t j = 0; j < count; ++j) {
              const double expected = plain_square(a, b, i, j, features);
              least = std::min(least, expected);
              // Each of the additions of positive terms rounds once.
              CHECK(std::abs(distances[j * n + i] - expected) <=
                    1e-7 * static_cast<double>(features + 4) * expected);
            }
            REQUIRE((labels[i] >= 0 && labels[i] < count));
            CHECK(squares[i] == distances[labels[i] * n + i]);
            CHECK(squares[i] <= least * (1 + 1e-7 * static_cast<double>(features + 4)));
          }
        }
  });
}

TEST_CASE("cluster: the first of equal centers, equal rows, a large mean, and NaN") {
  for_each_device([](Device device) {
    const Tensor y = Tensor{{20000, 1}, {20001, 1}, {20000, 1}}.to(device);
    const Tensor x = Tensor{{20000, 1}, {20001, 1.5f}, {NAN, 1}}.to(device);
    const NearestLabels nearest = nearest_labels(x, y);
    CHECK(nearest.labels.to_vector<int32_t>() == std::vector<int32_t>{0, 1, 0});
    const std::vector<float> squares = nearest.squares.to_vector();
    CHECK(squares[0] == 0);
    CHECK(squares[1] == 0.25f);
  });
}

TEST_CASE("cluster: sums and numbers of rows as plain loops") {
  for_each_device([](Device device) {
    for (const int64_t n : {1, 17, 1000, 4999})
      for (const int64_t features : {1, 5, 16, 37})
        for (const int64_t count : {1, 3, 11}) {
          CAPTURE(n);
          CAPTURE(features);
          CAPTURE(count);
          const Tensor x = random_tensor({n, features}, 3, device);
          const Tensor labels = labels_below(n, count, device);
          const std::vector<float> a = x.to_vector();
          const std::vector<int32_t> of = labels.to_vector<int32_t>();
          const Tensor sums = cluster_sums(x, labels, count);
          REQUIRE(sums.shape() == Shape{count, features + 1});
          const std::vector<float> got = sums.to_vector();
          std::vector<double> expected(got.size());
          for (int64_t i = 0; i < n; ++i) {
            for (int64_t f = 0; f < features; ++f)
              expected[of[i] * (features + 1) + f] += a[i * features + f];
            expected[of[i] * (features + 1) + features] += 1;
          }
          // Sums of n numbers below 1, each rounded to 24 bits.
          for (size_t i = 0; i < got.size(); ++i)
            CHECK(std::abs(got[i] - expected[i]) <= 1e-6 * std::sqrt(static_cast<double>(n)));
        }
  });
}

TEST_CASE("cluster: empty rows, views, and errors") {
  for_each_device([](Device device) {
    const Tensor y = random_tensor({2, 3}, 1, device);
    const Tensor none({0, 3}, DType::f32, device);
    CHECK(squared_distances(none, y).shape() == Shape{2, 0});
    CHECK(nearest_labels(none, y).labels.shape() == Shape{0});
    const Tensor empty = cluster_sums(none, Tensor({0}, DType::i32, device), 2);
    CHECK(empty.to_vector() == std::vector<float>(8, 0));
    const std::vector<int32_t> three = {1, 0, 1};
    const Tensor numbers = cluster_sums(Tensor({3, 0}, DType::f32, device),
                                        Tensor::from(std::span(three), {3}, device), 3);
    CHECK(numbers.shape() == Shape{3, 1});
    CHECK(numbers.to_vector() == std::vector<float>{1, 2, 0});
    const Tensor across = random_tensor({3, 20}, 2, device).transpose();
    CHECK(test::doubles(squared_distances(across, y)) ==
          test::doubles(squared_distances(across.contiguous(), y)));
    CHECK_THROWS_AS(squared_distances(y, random_tensor({2, 4}, 1, device)), ShapeError);
    CHECK_THROWS_AS(nearest_labels(y, none), ShapeError);
    CHECK_THROWS_AS(nearest_labels(y.reshape({6}), y), ShapeError);
    CHECK_THROWS_AS(cluster_sums(y, Tensor({3}, DType::i32, device), 2), ShapeError);
    CHECK_THROWS_AS(cluster_sums(y, Tensor({2}, DType::f32, device), 2), ShapeError);
    CHECK_THROWS_AS(cluster_sums(y, Tensor::zeros({2}, DType::i32, device), 0), ShapeError);
  });
  const Tensor x = random_tensor({2, 3}, 1);
  const std::vector<int32_t> wrong = {0, 2};
  CHECK_THROWS_WITH_AS(cluster_sums(x, Tensor::from(std::span<const int32_t>(wrong), {2}), 2),
                       "[cluster_sums] expected labels from 0 to 1, got 2", ShapeError);
}

}  // namespace kaiseki
