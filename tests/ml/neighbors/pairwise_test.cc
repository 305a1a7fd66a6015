// SPDX-License-Identifier: MIT
#include "ml/neighbors/pairwise.h"

#include <limits>

#include "base/error.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;
using ml::euclidean_distances;

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
