// SPDX-License-Identifier: MIT
#include "ml/neighbors/pairwise.h"

#include <limits>

#include "base/error.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::cosine_distances;
using ml::euclidean_distances;
using ml::manhattan_distances;
using ml::Metric;
using ml::pairwise_distances;

namespace {

Doubles plain_distances(const Tensor& x, const Tensor& y, bool squared) {
  const Doubles a = doubles(x), b = doubles(y);
  const int64_t features = x.dim(1);
  Doubles result;
  for (int64_t i = 0; i < x.dim(0); ++i)
    for (int64_t j = 0; j < y.dim(0); ++j) {
      double sum = 0;
      for (int64_t f = 0; f < features; ++f)
        sum += std::pow(a[i * features + f] - b[j * features + f], 2);
      result.push_back(squared ? sum : std::sqrt(sum));
    }
  return result;
}

}  // namespace

TEST_CASE("euclidean_distances: plain loops in double, on every device") {
  for (const Device device : all_devices())
    for (const int64_t features : {1, 2, 7, 64, 200})
      for (const bool squared : {false, true}) {
        CAPTURE(features);
        const Tensor x = random_tensor({37, features}, 1), y = random_tensor({23, features}, 2);
        const Tensor result = euclidean_distances(x.to(device), y.to(device), squared);
        CHECK(result.device() == device);
        check_close(result, plain_distances(x, y, squared), 1e-5, 1e-3);
        const Tensor own = euclidean_distances(x.to(device), squared);
        check_close(own, plain_distances(x, x, squared), 1e-5, 1e-3);
        for (int64_t i = 0; i < 37; ++i) CHECK(own(i, i) == 0);
      }
}

TEST_CASE("euclidean_distances: several blocks, and a large mean") {
  const Tensor x = random_tensor({2100, 3}, 3, Device::cpu(), 5000, 5001);
  const Tensor y = x.slice(0, 0, 150);
  check_close(euclidean_distances(x, y), plain_distances(x, y, false), 1e-5, 2e-3);
}

TEST_CASE("euclidean_distances: errors") {
  const Tensor x = random_tensor({3, 2}, 1);
  CHECK_THROWS_AS(euclidean_distances(x, random_tensor({3, 3}, 1)), ShapeError);
  CHECK_THROWS_AS(euclidean_distances(Tensor::zeros({3})), ShapeError);
  CHECK_THROWS_AS(euclidean_distances(Tensor()), ShapeError);
  CHECK_THROWS_AS(euclidean_distances(Tensor{{std::numeric_limits<float>::quiet_NaN()}}), Error);
}

TEST_CASE("euclidean_distances: x that is not contiguous, one sample") {
  const Tensor x = random_tensor({9, 4}, 1);
  check_close(euclidean_distances(x.transpose().contiguous().transpose()),
              doubles(euclidean_distances(x)), 0);
  check_close(euclidean_distances(Tensor{{3, 4}}, Tensor{{0, 0}}), {5}, 1e-6);
}

TEST_CASE("manhattan_distances and cosine_distances: plain loops in double, on every device") {
  for (const Device device : all_devices())
    for (const int64_t features : {1, 2, 7, 64, 300})
      for (const float scale : {1.0f, 1e25f, 1e-25f}) {
        CAPTURE(features);
        CAPTURE(scale);
        const Tensor x = random_tensor({150, features}, 1, Device::cpu(), -scale, scale);
        const Tensor y = random_tensor({29, features}, 2, Device::cpu(), -scale, scale);
        const Doubles a = doubles(x), b = doubles(y);
        Doubles sums, angles;
        for (int64_t i = 0; i < 150; ++i)
          for (int64_t j = 0; j < 29; ++j) {
            double total = 0, product = 0, left = 0, right = 0;
            for (int64_t f = 0; f < features; ++f) {
              const double p = a[i * features + f], q = b[j * features + f];
              total += std::abs(p - q);
              product += p * q;
              left += p * p;
              right += q * q;
            }
            sums.push_back(total);
            angles.push_back(1 - product / std::sqrt(left * right));
          }
        // Sums of 300 terms in f32.
        const Tensor there = x.to(device), others = y.to(device);
        check_close(manhattan_distances(there, others), sums, 1e-5, 1e-5);
        check_close(cosine_distances(there, others), angles, 1e-5, 1e-5);
        check_close(pairwise_distances(there, others, Metric::manhattan),
                    doubles(manhattan_distances(there, others)), 0);
        check_close(pairwise_distances(there, others, Metric::cosine),
                    doubles(cosine_distances(there, others)), 0);
      }
  const Tensor x{{0, 0}, {2, 0}}, y{{0, 0}, {5, 0}, {-1, 0}};
  check_close(cosine_distances(x, y), {1, 1, 1, 1, 0, 2}, 0);
  check_close(pairwise_distances(x, y), {0, 5, 1, 2, 3, 3}, 1e-6);
  check_close(pairwise_distances(x, y, Metric::squared_euclidean), {0, 25, 1, 4, 9, 9}, 1e-5);
  CHECK_THROWS_AS(manhattan_distances(x, random_tensor({3, 3}, 1)), ShapeError);
  CHECK_THROWS_AS(cosine_distances(Tensor(), y), ShapeError);
}
