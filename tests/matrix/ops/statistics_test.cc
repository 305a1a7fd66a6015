// SPDX-License-Identifier: MIT
// tests/matrix/ops/numpy_test.cc compares more shapes with NumPy's results.
#include "matrix/ops/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/create.h"
#include "matrix/ops/elementwise.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("var: a large mean does not cancel the digits") {
  for_each_device([](Device device) {
    const int64_t n = 10007;
    const Tensor x = random_tensor({2, n}, 3, device, 1000, 1001);
    Doubles expected;
    const Doubles values = doubles(x);
    for (int64_t row = 0; row < 2; ++row) {
      double mean = 0, squares = 0;
      for (int64_t i = 0; i < n; ++i) mean += values[row * n + i] / static_cast<double>(n);
      for (int64_t i = 0; i < n; ++i) squares += std::pow(values[row * n + i] - mean, 2);
      expected.push_back(squares / static_cast<double>(n - 1));
    }
    // The mean in f32 is wrong by up to 6e-5. Its square is added to 1/12.
    check_close(var(x, {1}, 1), expected, 1e-5);
  });
}

TEST_CASE("prod, sum, any, all: long rows and columns of every type") {
  for_each_device([](Device device) {
    const int64_t n = 70001;
    Tensor ints = arange(-35000, 35001, 1, DType::i32, device);
    CHECK(sum(ints).to_vector<int32_t>()[0] == 0);
    CHECK(max(ints).to_vector<int32_t>()[0] == 35000);
    CHECK(min(ints).to_vector<int32_t>()[0] == -35000);
    CHECK(all(ints).to_vector<bool>()[0] == false);
    CHECK(any(ints).to_vector<bool>()[0]);
    CHECK(sum(ones({n, 3}, DType::u8, device), {0}).to_vector<int32_t>() ==
          std::vector<int32_t>(3, 70001));
    CHECK(sum(ones({n}, DType::boolean, device)).to_vector<int32_t>()[0] == 70001);
    const Tensor factors = Tensor::full({n}, std::nextafter(1.0f, 2.0f), device);
    // Each of 70,000 products in f32 is wrong by half a unit at most.
    check_close(prod(factors), {std::pow(1 + 0x1p-23, 70001)}, device.is_cpu() ? 1e-6 : 5e-3);
  });
}

TEST_CASE("prod, any, all, argmax: f64; statistics refuse it") {
  for_each_device([](Device device) {
    if (!device.holds(DType::f64)) return;
    const double values[] = {1, 1e-300, 3, 0};
    const Tensor x = Tensor::from(std::span<const double>(values), {2, 2}, device);
    CHECK(prod(x, {1}).to_vector<double>() == std::vector<double>{1e-300, 0});
    CHECK(all(x, {1}).to_vector<bool>() == std::vector<bool>{true, false});
    CHECK(any(x, {0}).to_vector<bool>() == std::vector<bool>{true, true});
    CHECK(argmax(x).item<int32_t>() == 2);
    CHECK(argmin(x, 0).to_vector<int32_t>() == std::vector<int32_t>{0, 1});
    CHECK_THROWS_WITH_AS(var(x), "[var] expected x of type f32, i32, u8 or bool, got f64",
                         ShapeError);
    CHECK_THROWS_WITH_AS(median(x), "[quantile] expected x of type f32, i32, u8 or bool, got f64",
                         ShapeError);
  });
}

TEST_CASE("statistics: infinities, NaNs, no elements and wrong arguments") {
  for_each_device([](Device device) {
    const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    auto row = [&](std::initializer_list<float> v) {
      return Tensor::from(v, {static_cast<int64_t>(v.size())}, device);
    };
    CHECK(std::isnan(median(row({1, nan, 2})).item()));
    CHECK(median(row({infinity, infinity})).item() == infinity);
    CHECK(median(row({-infinity, 1, infinity})).item() == 1);
    CHECK(median(row({-infinity, 1})).item() == -infinity);
    CHECK(std::isfinite(median(row({-3e38f, 3e38f})).item()));
    CHECK(logsumexp(row({-infinity, -infinity})).item() == -infinity);
    CHECK(logsumexp(row({infinity, 1})).item() == infinity);
    CHECK(std::isnan(logsumexp(row({nan, 1})).item()));
    CHECK(std::abs(logsumexp(row({1000, 1000})).item() - 1000.6931472f) < 1e-4f);  // f32 near 1000
    CHECK(std::isnan(var(row({1}), {}, 1).item()));
    CHECK(std::isnan(var(row({})).item()));
    CHECK(vector_norm(row({})).item() == 0);
    CHECK_THROWS_AS(median(row({})), ShapeError);
    Tensor halves = Tensor::full({101}, -infinity, device);
    Tensor above = halves(Slice(57));
    copy_into(above, arange(57, 101, 1, DType::f32, device));
    CHECK(quantile(halves, 0.57).item() == 57);  // the position rounds to 57 in f32
    CHECK_THROWS_AS(quantile(row({1}), 1.5), ShapeError);
    CHECK_THROWS_AS(quantile(row({1}), std::nan("")), ShapeError);
    CHECK_THROWS_AS(vector_norm(row({1}), std::nan("")), ShapeError);
    CHECK_THROWS_AS(max(Tensor({0}, DType::i32, device)), ShapeError);
    CHECK_THROWS_AS(argmax(Tensor({0}, DType::i32, device)), ShapeError);
    CHECK_THROWS_AS(median(row({1}), {0, 0}), ShapeError);
    CHECK_THROWS_AS(stddev(row({1}), {1}), ShapeError);
  });
}

TEST_CASE("statistics: integers and masks give f32") {
  for_each_device([](Device device) {
    const int32_t most = std::numeric_limits<int32_t>::max();
    const int32_t values[] = {most, most, most - 255, 4};
    const Tensor ints = Tensor::from(std::span<const int32_t>(values), {4}, device);
    const Tensor mask = elementwise("i > 5", {{"i", ints}});
    CHECK(mean(ints.slice(0, 0, 2)).item() == 0x1p31f);  // a sum of i32 would wrap
    CHECK(mean(mask).dtype() == DType::f32);
    CHECK(mean(mask).item() == 0.75f);
    CHECK(reduce(Reduction::sum_of_squares, mask).item() == 3);
    CHECK(var(mask).item() == 0.1875f);
    CHECK(stddev(mask, {0}, 0, true).shape() == Shape{1});
    CHECK(median(ints.slice(0, 2, 2)).item() == 0x1p30f - 128);
    CHECK(quantile(mask, 0.25).item() == 0.75f);
    CHECK(vector_norm(cast(ints, DType::u8)).item() == std::sqrt(255.0f * 255 * 2 + 16));
    CHECK(logsumexp(mask.slice(0, 3, 1)).item() == 0);
    CHECK(histogram(mask, 2, 0, 1).counts.to_vector<int32_t>() == std::vector<int32_t>{1, 3});
    CHECK(std::isnan(mean(Tensor({0}, DType::boolean, device)).item()));
  });
}

TEST_CASE("histogram, bincount: edges, NaNs and a hundred thousand elements") {
  for_each_device([](Device device) {
    const float nan = std::nanf("");
    const Tensor x = Tensor::from({-1, 0, 0.5, 1, 1.5, 2, 3, nan}, {8}, device);
    CHECK(histogram(x, 2, 0, 2).counts.to_vector<int32_t>() == std::vector<int32_t>{2, 3});
    CHECK(histogram(x, Tensor::from({0, 0.5, 3}, {3}, device)).to_vector<int32_t>() ==
          std::vector<int32_t>{1, 5});
    const Tensor infinite = Tensor::from({-INFINITY, 0, INFINITY, nan}, {4}, device);
    CHECK(histogram(infinite, Tensor::from({-INFINITY, 0, INFINITY}, {3}, device))
              .to_vector<int32_t>() == std::vector<int32_t>{1, 2});
    const Tensor many = random_tensor({100003}, 3, device, 0, 1);
    std::vector<int32_t> expected(10);
    for (double v : doubles(many)) ++expected[static_cast<size_t>(static_cast<float>(v) * 10)];
    const std::vector<int32_t> counts = histogram(many, 10, 0, 1).counts.to_vector<int32_t>();
    for (size_t i = 0; i < counts.size(); ++i)  // a rounded edge may move an element to another bin
      CHECK(std::abs(counts[i] - expected[i]) <= 2);
    CHECK_THROWS_AS(histogram(x, 0, 0, 1), ShapeError);
    CHECK_THROWS_AS(histogram(x, std::numeric_limits<int64_t>::max(), 0, 1), ShapeError);
    CHECK_THROWS_AS(histogram(x, 2, 1, 1), ShapeError);
    CHECK_THROWS_AS(histogram(x, 2, 0, INFINITY), ShapeError);
    CHECK_THROWS_AS(histogram(x, Tensor({1}, DType::f32, device)), ShapeError);
    CHECK_THROWS_AS(bincount(arange(-1, 2, 1, DType::i32, device)), ShapeError);
    CHECK_THROWS_AS(bincount(x), ShapeError);
  });
}
