// SPDX-License-Identifier: MIT
#include "matrix/ops/reduce.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/elementwise.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

/// The reduction in double, and the sums of absolute values, which bound the error.
struct Expected {
  Doubles values, magnitudes;
};

Expected reference(Reduction kind, const Tensor& x, const Axes& axes) {
  bool reduced[Shape::kMaxRank] = {};
  for (int axis : axes) reduced[x.shape().index(axis)] = true;
  if (axes.empty()) std::fill_n(reduced, x.rank(), true);
  Shape shape;
  for (int i = 0; i < x.rank(); ++i)
    if (!reduced[i]) shape.push_back(x.dim(i));
  auto outputs = static_cast<size_t>(shape.elements());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double start = kind == Reduction::max ? -kInfinity : kind == Reduction::min ? kInfinity : 0;
  Expected result{Doubles(outputs, start), Doubles(outputs, 0)};
  Doubles counts(outputs, 0), values = doubles(x);
  size_t flat = 0;
  for_each_index(x.shape(), [&](const Shape& index) {
    int64_t o = 0;
    for (int i = 0; i < x.rank(); ++i)
      if (!reduced[i]) o = o * x.dim(i) + index[i];
    double v = values[flat++], &r = result.values[o];
    if (kind == Reduction::sum_of_squares) v *= v;
    if (kind == Reduction::max || kind == Reduction::min)
      r = std::isnan(v) || std::isnan(r)
              ? v + r
              : (kind == Reduction::max ? std::max(r, v) : std::min(r, v));
    else
      r += v;
    result.magnitudes[o] += std::abs(v);
    counts[o] += 1;
  });
  if (kind == Reduction::mean)
    for (size_t o = 0; o < outputs; ++o) {
      result.values[o] /= counts[o];
      result.magnitudes[o] /= counts[o];
    }
  return result;
}

constexpr Reduction kAll[] = {Reduction::sum, Reduction::mean, Reduction::max, Reduction::min,
                              Reduction::sum_of_squares};

void check(Reduction kind, const Tensor& x, const Axes& axes) {
  Expected expected = reference(kind, x, axes);
  Doubles actual = doubles(reduce(kind, x, axes));
  REQUIRE(actual.size() == expected.values.size());
  // At most 128 additions in a row are in float. Each has an error of 6e-8 of the sum of magnitudes
  // so far.
  bool exact = kind == Reduction::max || kind == Reduction::min;
  for (size_t i = 0; i < actual.size(); ++i)
    if (!(std::abs(actual[i] - expected.values[i]) <=
          (exact ? 0 : 2e-6 * expected.magnitudes[i] + 1e-30))) {
      INFO("element " << i << ": " << actual[i] << ", expected " << expected.values[i]);
      FAIL_CHECK("values differ");
      return;
    }
}

}  // namespace

TEST_CASE("reduce: every kind, any axes, odd shapes") {
  const std::pair<Shape, std::vector<Axes>> cases[] = {
      {{}, {{}}},
      {{1}, {{}, {0}}},
      {{17}, {{0}}},
      {{3, 5}, {{}, {0}, {1}, {0, 1}, {-1}}},
      {{129, 1027}, {{}, {0}, {1}}},
      {{1, 33000}, {{0}, {1}}},
      {{33000, 3}, {{0}, {1}}},
      {{2, 3, 5, 7}, {{0, 2, 3}, {1}, {0, 2}, {1, 3}, {2}, {3}, {0}}},
      {{64, 8, 31}, {{0, 2}, {1}}},
      {{2, 3, 1, 2, 2, 1, 3, 2}, {{0, 2, 4, 6}, {1, 3, 5, 7}}},
      {{0, 4}, {{1}}},
  };
  for_each_device([&](Device device) {
    for (const auto& one : cases)
      for (const Axes& axes : one.second)
        for (Reduction kind : kAll) {
          INFO(one.first.str() << " axes " << Shape(std::vector<int64_t>(axes.begin(), axes.end()))
                               << " kind " << static_cast<int>(kind));
          check(kind, random_tensor(one.first, 1, device, -0.5f, 1), axes);
        }
  });
}

TEST_CASE("reduce: shapes of results, kept dimensions, views") {
  for_each_device([](Device device) {
    Tensor x = random_tensor({4, 5, 6}, 2, device);
    CHECK(sum(x).shape() == Shape{});
    CHECK(sum(x, {1}).shape() == Shape{4, 6});
    CHECK(max(x, {0, -1}, true).shape() == Shape{1, 5, 1});
    check(Reduction::sum, x.transpose(), {1});
    check(Reduction::max, x.slice(1, 1, 3), {2});
  });
}

TEST_CASE("reduce: empty input") {
  for_each_device([](Device device) {
    Tensor x({0, 3}, DType::f32, device);
    check_close(sum(x, {0}), Doubles(3, 0), 0);
    check_close(sum(x), Doubles(1, 0), 0);
    check_close(mean(x, {0}), Doubles(3, std::nan("")), 0);
    CHECK(max(x, {1}).shape() == Shape{0});
    CHECK_THROWS_AS(max(x, {0}), ShapeError);
    CHECK_THROWS_AS(min(x), ShapeError);
    CHECK_THROWS_AS(argmax(x, 0), ShapeError);
  });
}

TEST_CASE("reduce: NaN propagates, infinities count") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for_each_device([&](Device device) {
    for (int64_t n : {2, 17, 64, 100, 5000})
      for (int64_t place : {int64_t{0}, n / 2, n - 1}) {
        std::vector<float> values(static_cast<size_t>(n), 3);
        values[place] = kNan;
        Tensor row = Tensor::from(std::span<const float>(values), {1, n}, device);
        Tensor column = row.reshape({n, 1});
        for (const Tensor& x : {row, column})
          for (Reduction kind : kAll) CHECK(std::isnan(reduce(kind, x).item()));
        CHECK(std::isnan(max(row.reshape({1, n}), {1}).item()));
        CHECK(argmax(row, 1).to_vector<int32_t>()[0] == place);
        CHECK(argmin(row, 1).to_vector<int32_t>()[0] == place);
        Tensor wide = column.broadcast_to({n, 3}).contiguous();
        check_close(max(wide, {0}), Doubles(3, kNan), 0);
        CHECK(argmin(wide, 0).to_vector<int32_t>() ==
              std::vector<int32_t>(3, static_cast<int32_t>(place)));
      }
    Tensor low = Tensor::from({-kInfinity, -kInfinity, -kInfinity}, {3}, device);
    CHECK(max(low).item() == -kInfinity);
    CHECK(min(low).item() == -kInfinity);
    CHECK(sum(low).item() == -kInfinity);
  });
}

TEST_CASE("reduce: the sum of ten million terms is accurate to a few units") {
  for_each_device([](Device device) {
    Tensor x = Tensor::full({10000000}, 0.1f, device);
    double expected = 1e7 * static_cast<double>(0.1f);
    CHECK(sum(x).item() == doctest::Approx(expected).epsilon(1e-6));
    CHECK(mean(x).item() == doctest::Approx(0.1f).epsilon(1e-6));
    Tensor columns = x.reshape({5000000, 2});
    check_close(sum(columns, {0}), Doubles(2, expected / 2), 2e-6);
  });
}

TEST_CASE("reduce_into: adds to the output, or does not read it") {
  for_each_device([](Device device) {
    Tensor x = random_tensor({6, 9}, 3, device), out = random_tensor({9}, 4, device);
    Doubles expected = doubles(out), sums = reference(Reduction::sum, x, {0}).values;
    for (size_t i = 0; i < expected.size(); ++i) expected[i] = sums[i] + 0.5 * expected[i];
    reduce_into(out, Reduction::sum, x, {0}, 0.5f);
    check_close(out, expected, 1e-6, 1e-6);
    Tensor nan = Tensor::full({9}, std::numeric_limits<float>::quiet_NaN(), device);
    reduce_into(nan, Reduction::sum, x, {0});
    check_close(nan, sums, 1e-6, 1e-6);
    CHECK_THROWS_AS(reduce_into(out, Reduction::sum, x, {1}), ShapeError);
  });
}

TEST_CASE("reduce_into: beta applies to every kind, in one step and in two") {
  for_each_device([](Device device) {
    for (int64_t n : {3, 20000})
      for (auto kind : {Reduction::sum, Reduction::mean, Reduction::max, Reduction::min,
                        Reduction::sum_of_squares}) {
        INFO("kind ", static_cast<int>(kind), " of ", n);
        Tensor x = Tensor::full({2, n, 3}, 1, device), out = Tensor::full({2, 3}, 5, device);
        reduce_into(out, kind, x, {1}, 0.5f);
        bool adds = kind == Reduction::sum || kind == Reduction::sum_of_squares;
        check_close(out, Doubles(6, (adds ? static_cast<double>(n) : 1.0) + 2.5), 1e-6);
        Tensor row = Tensor::full({2}, 5, device);
        reduce_into(row, kind, x.reshape({2, 3 * n}), {1}, 1);
        check_close(row, Doubles(2, (adds ? 3.0 * static_cast<double>(n) : 1.0) + 5), 1e-6);
      }
  });
}

TEST_CASE("argmax, argmin: the first of equal values, along any axis") {
  for_each_device([](Device device) {
    for (Shape shape : {Shape{1}, Shape{33}, Shape{5, 7}, Shape{3, 4, 5}, Shape{2, 1000}})
      for (int axis = 0; axis < shape.rank(); ++axis) {
        Tensor x = elementwise("floor(x)", {{"x", random_tensor(shape, 5, device, 0, 9)}});
        Doubles values = doubles(x);
        int64_t n = shape[axis], inner = 1;
        for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
        std::vector<int32_t> largest, smallest;
        for (int64_t o = 0; o < x.size() / n; ++o) {
          const double* first = values.data() + o / inner * n * inner + o % inner;
          int32_t high = 0, low = 0;
          for (int32_t i = 1; i < n; ++i) {
            if (first[i * inner] > first[high * inner]) high = i;
            if (first[i * inner] < first[low * inner]) low = i;
          }
          largest.push_back(high);
          smallest.push_back(low);
        }
        CHECK(argmax(x, axis).to_vector<int32_t>() == largest);
        CHECK(argmin(x, axis).to_vector<int32_t>() == smallest);
      }
  });
}

TEST_CASE("reduce: bad axes are errors") {
  Tensor x({2, 3});
  CHECK_THROWS_AS(sum(x, {2}), ShapeError);
  CHECK_THROWS_AS(sum(x, {0, -2}), ShapeError);
  CHECK_THROWS_AS(mean(Tensor({3}, DType::i32), {1}), ShapeError);
  CHECK_THROWS_AS(argmax(x, 5), ShapeError);
}

TEST_CASE("reduce: the number of threads does not change the result") {
  Tensor x = random_tensor({300, 1001}, 6);
  auto run = [&] {
    std::vector<float> all;
    for (const Axes& axes : {Axes{}, Axes{0}, Axes{1}})
      for (float v : sum(x, axes).to_vector()) all.push_back(v);
    return all;
  };
  set_thread_count(1);
  auto one = run();
  set_thread_count(3);
  CHECK(run() == one);
  set_thread_count(0);
}

TEST_CASE("reduce: f64, all kinds and axes") {
  for_each_device([](Device device) {
    if (!device.holds(DType::f64)) return;
    for (const Shape& shape : {Shape{3, 5, 7}, Shape{1, 40001}, Shape{17, 1, 1031}, Shape{2, 0, 3},
                               Shape{1}, Shape{600, 3, 2}})
      for (const Axes& axes : {Axes{}, Axes{0}, Axes{-1}, Axes{0, -1}})
        for (Reduction kind : kAll) {
          if (axes.size() == 2 && shape.rank() == 1) continue;
          if (shape.elements() == 0 && (kind == Reduction::max || kind == Reduction::min)) continue;
          const Tensor narrow = random_tensor(shape, 1, Device::cpu());
          const std::vector<float> values = narrow.to_vector();
          const std::vector<double> wide(values.begin(), values.end());
          const Tensor x = Tensor::from(std::span<const double>(wide), shape, device);
          const Expected want = reference(kind, narrow, axes);
          const Tensor got = reduce(kind, x, axes);
          REQUIRE(got.dtype() == DType::f64);
          // A sum of n numbers has an error of at most n 2^-53 of the sum of their magnitudes.
          const double bound = 1e-16 * static_cast<double>(shape.elements() + 1);
          const std::vector<double> sums = got.to_vector<double>();
          REQUIRE(sums.size() == want.values.size());
          for (size_t i = 0; i < sums.size(); ++i) {
            CAPTURE(shape.str());
            if (std::isnan(want.values[i]))
              CHECK(std::isnan(sums[i]));
            else
              CHECK(std::abs(sums[i] - want.values[i]) <= bound * want.magnitudes[i]);
          }
        }
  });
}

TEST_CASE("reduce: f64 keeps what f32 would lose, and NaN propagates") {
  for_each_device([](Device device) {
    if (!device.holds(DType::f64)) return;
    const std::vector<double> values{1, 1e-12, 1e300, -1e300};
    const Tensor x = Tensor::from(std::span<const double>(values), {2, 2}, device);
    CHECK(sum(x, {1}).to_vector<double>() == std::vector<double>{1 + 1e-12, 0});
    CHECK(max(x).item<double>() == 1e300);
    Tensor out = Tensor::zeros({2}, DType::f64, device);
    fill(out, 1);
    reduce_into(out, Reduction::sum, x, {1}, 0.5f);
    CHECK(out.to_vector<double>() == std::vector<double>{1.5 + 1e-12, 0.5});
    const std::vector<double> missing{1, std::nan(""), 3};
    const Tensor y = Tensor::from(std::span<const double>(missing), {3}, device);
    for (Reduction kind : kAll) CHECK(std::isnan(reduce(kind, y).item<double>()));
    CHECK_THROWS_AS(max(Tensor({0}, DType::f64, device)), ShapeError);
    CHECK(argmax(x, 0).to_vector<int32_t>() == std::vector<int32_t>{1, 0});
  });
}

TEST_CASE("reduce: f64 does not depend on the number of threads") {
  std::vector<double> values(300007);
  Random random(5);
  for (double& v : values) v = random.uniform() - 0.5;
  const Tensor x = Tensor::from(std::span<const double>(values), {300007});
  set_thread_count(1);
  const double one = sum(x).item<double>();
  set_thread_count(3);
  CHECK(sum(x).item<double>() == one);
  set_thread_count(0);
}
