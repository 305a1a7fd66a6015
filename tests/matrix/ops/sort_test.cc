// SPDX-License-Identifier: MIT
// tests/matrix/ops/numpy_test.cc compares more shapes and types with NumPy's results.
#include "matrix/ops/sort.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "matrix/ops/index.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("argsort: long rows with ties, NaNs and infinities, stable in both directions") {
  for_each_device([](Device device) {
    for (int64_t n : {1, 2, 511, 512, 1000, 4099}) {
      Tensor x = random_tensor({3, n}, static_cast<uint64_t>(n), Device::cpu(), -50, 50);
      float* value = x.mutable_data<float>();
      for (int64_t i = 0; i < x.size(); ++i) {
        value[i] = std::round(value[i]);
        if (i % 17 == 3) value[i] = std::numeric_limits<float>::quiet_NaN();
        if (i % 31 == 5) value[i] = -std::numeric_limits<float>::infinity();
        if (i % 37 == 6) value[i] = -0.0f;
      }
      for (bool descending : {false, true}) {
        INFO(n << (descending ? " descending" : " ascending"));
        std::vector<int32_t> expected;
        for (int64_t row = 0; row < 3; ++row) {
          std::vector<int32_t> order(static_cast<size_t>(n));
          std::iota(order.begin(), order.end(), 0);
          const float* first = value + row * n;
          std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
            if (std::isnan(first[a]) || std::isnan(first[b]))
              return !std::isnan(first[a]) && std::isnan(first[b]);
            return descending ? first[a] > first[b] : first[a] < first[b];
          });
          expected.insert(expected.end(), order.begin(), order.end());
        }
        const Tensor on_device = x.to(device);
        CHECK(argsort(on_device, 1, descending).to_vector<int32_t>() == expected);
        const TopK top = topk(on_device, n / 3, 1, descending);
        CHECK(top.indices.shape() == Shape{3, n / 3});
        for (int64_t row = 0; row < 3; ++row)
          CHECK(std::equal(expected.begin() + row * n, expected.begin() + row * n + n / 3,
                           top.indices.to_vector<int32_t>().begin() + row * (n / 3)));
        CHECK(doubles(gather(on_device, argsort(on_device, 1), 1)).size() == size_t(3 * n));
      }
    }
  });
}

TEST_CASE("sort: the extremes of integers") {
  for_each_device([](Device device) {
    const int32_t values[] = {0, 2147483647, -1, -2147483647 - 1, 1};
    const Tensor x = Tensor::from(std::span<const int32_t>(values), {5}, device);
    CHECK(sort(x).to_vector<int32_t>() ==
          std::vector<int32_t>{-2147483647 - 1, -1, 0, 1, 2147483647});
    CHECK(sort(x, 0, true).to_vector<int32_t>() ==
          std::vector<int32_t>{2147483647, 1, 0, -1, -2147483647 - 1});
  });
}

TEST_CASE("sort, unique, searchsorted: f64 that f32 cannot tell apart") {
  const double nan = std::nan(""), next = std::nextafter(1.0, 2.0);
  const double values[] = {next, nan, 1, -0.0, 0, 1e300, next};
  for (const Device device : all_devices()) {
    if (!device.holds(DType::f64)) continue;
    const Tensor x = Tensor::from(std::span<const double>(values), {7}, device);
    const uint64_t before = fallback_count();
    CHECK(argsort(x).to_vector<int32_t>() == std::vector<int32_t>{3, 4, 2, 0, 6, 5, 1});
    CHECK(argsort(x, 0, true).to_vector<int32_t>() == std::vector<int32_t>{5, 0, 6, 2, 3, 4, 1});
    CHECK(topk(x, 2).values.to_vector<double>() == std::vector<double>{1e300, next});
    const Unique parts = unique(x);
    CHECK(parts.counts.to_vector<int32_t>() == std::vector<int32_t>{2, 1, 2, 1, 1});
    CHECK(parts.first.to_vector<int32_t>() == std::vector<int32_t>{3, 2, 0, 5, 1});
    const Tensor sorted = sort(x);
    CHECK(fallback_count() == before + (device.is_cpu() ? 0 : 5));  // no device sorts f64
    CHECK(searchsorted(sorted, x, true).to_vector<int32_t>() ==
          std::vector<int32_t>{5, 7, 3, 2, 2, 6, 5});
    CHECK(fallback_count() == before + (device.is_cpu() ? 0 : 5));
  }
}

TEST_CASE("unique: its parts restore the input") {
  for_each_device([](Device device) {
    Tensor x = random_tensor({40, 25}, 5, Device::cpu(), 0, 60);
    float* value = x.mutable_data<float>();
    for (int64_t i = 0; i < x.size(); ++i) value[i] = std::floor(value[i]);
    const Unique parts = unique(x.to(device));
    CHECK(doubles(take(parts.values, parts.inverse, 0)) == doubles(x));
    const std::vector<int32_t> counts = parts.counts.to_vector<int32_t>();
    CHECK(std::accumulate(counts.begin(), counts.end(), 0) == 1000);
    const std::vector<int32_t> first = parts.first.to_vector<int32_t>();
    for (size_t i = 0; i < first.size(); ++i)
      CHECK(std::find(value, value + 1000, parts.values.to_vector()[i]) - value == first[i]);
  });
}

TEST_CASE("topk: few elements of long rows, with NaN and equal elements, as argsort") {
  test::for_each_device([](Device device) {
    for (const int64_t n : {65, 512, 5003})
      for (const int64_t rows : {1, 3})
        for (const bool largest : {false, true}) {
          CAPTURE(n);
          CAPTURE(rows);
          std::vector<float> values = test::random_tensor({rows, n}, 5).to_vector();
          for (float& value : values) value = std::round(value * 40);  // many are equal
          for (int64_t i = 0; i < rows * n; i += 7) values[i] = -0.0f;
          for (int64_t i = 3; i < rows * n; i += 31) values[i] = std::nanf("");
          for (int64_t i = n - 9; i < n; ++i) values[i] = std::nanf("");
          const Tensor x =
              Tensor::from(std::span<const float>(values), {rows, n}, Device::cpu()).to(device);
          for (const int64_t k : {1, 8}) {
            const Tensor order = argsort(x, 1, largest).slice(1, 0, k).contiguous();
            CHECK(topk(x, k, 1, largest).indices.to_vector<int32_t>() ==
                  order.to_vector<int32_t>());
          }
        }
    const Tensor none = Tensor::full({1, 100}, std::nanf(""), device);
    CHECK(topk(none, 2).indices.to_vector<int32_t>() == std::vector<int32_t>{0, 1});
  });
}

TEST_CASE("sort: wrong arguments are errors") {
  const Tensor x({3, 4});
  CHECK_THROWS_AS(sort(x, 2), ShapeError);
  CHECK_THROWS_AS(sort(Tensor()), ShapeError);
  CHECK_THROWS_AS(sort(Tensor(Shape{})), ShapeError);
  CHECK_THROWS_AS(topk(x, 5), ShapeError);
  CHECK_THROWS_AS(topk(x, -1), ShapeError);
  CHECK_THROWS_AS(searchsorted(x, x), ShapeError);
  CHECK_THROWS_AS(searchsorted(Tensor({3}), Tensor({3}, DType::i32)), ShapeError);
}
