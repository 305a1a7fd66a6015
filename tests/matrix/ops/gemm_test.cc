// SPDX-License-Identifier: MIT
#include "matrix/ops/gemm.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

/// op(A) op(B) of one matrix each, in double.
Doubles product(const Tensor& a, const Tensor& b, bool trans_a, bool trans_b) {
  const Doubles x = doubles(a), y = doubles(b);
  const int64_t m = a.dim(trans_a ? -1 : -2), k = a.dim(trans_a ? -2 : -1);
  const int64_t n = b.dim(trans_b ? -2 : -1);
  Doubles c(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t p = 0; p < k; ++p)
        c[i * n + j] += x[trans_a ? p * m + i : i * k + p] * y[trans_b ? j * k + p : p * n + j];
  return c;
}

// Up to 41 products of numbers below 1: the sum's rounding stays well under 41 * 41 * 2^-24.
constexpr double kTolerance = 1e-4;

}  // namespace

TEST_CASE("matmul: all four transpositions on every device") {
  for_each_device([](Device device) {
    for (int t = 0; t < 4; ++t) {
      const bool ta = t & 1, tb = t & 2;
      const Tensor a = random_tensor(ta ? Shape{41, 13} : Shape{13, 41}, 1, device);
      const Tensor b = random_tensor(tb ? Shape{29, 41} : Shape{41, 29}, 2, device);
      check_close(doubles(matmul(a, b, ta, tb)), product(a, b, ta, tb), kTolerance, kTolerance);
    }
  });
}

TEST_CASE("matmul: views with strided rows, and transposed views") {
  for_each_device([](Device device) {
    const Tensor wide = random_tensor({9, 20}, 3, device);
    const Tensor a = wide.slice(1, 4, 7), b = random_tensor({7, 5}, 4, device);
    check_close(doubles(matmul(a, b)), product(a.contiguous(), b, false, false), kTolerance,
                kTolerance);
    check_close(doubles(matmul(b.transpose(), a.transpose())),
                product(b, a.contiguous(), true, true), kTolerance, kTolerance);
  });
}

TEST_CASE("matmul: batches, and one matrix for a whole batch") {
  for_each_device([](Device device) {
    const Tensor a = random_tensor({3, 5, 7}, 5, device), b = random_tensor({7, 4}, 6, device);
    const Tensor c = matmul(a, b);
    REQUIRE(c.shape() == Shape{3, 5, 4});
    for (int64_t i = 0; i < 3; ++i)
      check_close(doubles(c.slice(0, i, 1)),
                  product(a.slice(0, i, 1).clone().reshape({5, 7}), b, false, false), kTolerance,
                  kTolerance);
  });
}

TEST_CASE("gemm: alpha, beta, bias and activation") {
  for_each_device([](Device device) {
    const Tensor a = random_tensor({6, 11}, 7, device), b = random_tensor({11, 19}, 8, device);
    const Tensor rows = random_tensor({6}, 9, device), columns = random_tensor({19}, 10, device);
    for (bool per_row : {true, false}) {
      Tensor c = random_tensor({6, 19}, 11, device);
      Doubles want = doubles(c), sum = product(a, b, false, false);
      for (size_t i = 0; i < want.size(); ++i) {
        const double bias = per_row ? doubles(rows)[i / 19] : doubles(columns)[i % 19];
        want[i] = std::max(0.0, 0.5 * sum[i] + 2 * want[i] + bias);
      }
      gemm(a, b, c,
           {.alpha = 0.5f,
            .beta = 2,
            .bias_per_row = per_row ? &rows : nullptr,
            .bias_per_column = per_row ? nullptr : &columns,
            .activation = Activation::relu});
      check_close(doubles(c), want, kTolerance, kTolerance);
    }
  });
}

TEST_CASE("matmul: several axes of batches broadcast, with all four transpositions") {
  for_each_device([](Device device) {
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        const Tensor a = random_tensor(ta ? Shape{2, 1, 5, 4} : Shape{2, 1, 4, 5}, 1, device);
        const Tensor b = random_tensor(tb ? Shape{3, 2, 5} : Shape{3, 5, 2}, 2, device);
        const Tensor c = matmul(a, b, ta, tb);
        CHECK(c.shape() == Shape{2, 3, 4, 2});
        for (int64_t i = 0; i < 2; ++i)
          for (int64_t j = 0; j < 3; ++j)
            check_close(c(i, j, All, All),
                        doubles(matmul(a(i, 0, All, All), b(j, All, All), ta, tb)), kTolerance,
                        kTolerance);
      }
  });
  const Tensor a({2, 3, 4, 5}), b({2, 5, 2});
  CHECK_THROWS_AS(matmul(a, b), ShapeError);
  CHECK_THROWS_WITH_AS(
      matmul(a, Tensor({4, 2})),
      "[matmul] expected columns of op(A) as rows of op(B), got A [2, 3, 4, 5] and B [4, 2]",
      ShapeError);
}

TEST_CASE("matmul: vectors are rows or columns, and their axis is dropped") {
  for_each_device([](Device device) {
    const Tensor v = Tensor::from({1, 2, 3}, {3}, device);
    const Tensor m = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3}, device);
    auto check = [](const Tensor& actual, const Shape& shape, const Doubles& expected) {
      CHECK(actual.shape() == shape);
      check_close(actual, expected, 0);
    };
    check(matmul(v, v), {}, {14});
    check(matmul(m, v), {2}, {14, 32});
    check(matmul(v, m.transpose()), {2}, {14, 32});
    check(matmul(v, m, true, true), {2}, {14, 32});
    check(matmul(m.reshape({2, 1, 3}), v), {2, 1}, {14, 32});
    check(matmul(v, m.reshape({2, 3, 1})), {2, 1}, {14, 32});
    check(matmul(v(Slice({}, {}, -1)), v), {}, {10});
    CHECK_THROWS_AS(matmul(v, m), ShapeError);
    CHECK_THROWS_AS(matmul(v, Tensor::full({}, 1, device)), ShapeError);
  });
}

TEST_CASE("matmul: views with steps, reversed and broadcast views") {
  for_each_device([](Device device) {
    const Tensor x = random_tensor({2, 7, 9}, 1, device), y = random_tensor({2, 9, 7}, 2, device);
    auto check = [](const Tensor& a, const Tensor& b) {
      check_close(matmul(a, b), doubles(matmul(a.clone(), b.clone())), 0);
    };
    for (int64_t step : {2, -1, -3}) {
      const Slice some({}, {}, step);
      check(x(0, some, some), y(0, some, some));
      check(x(0, All, some), y(1, some));
      check(x(some, some), y(some, All, some));
    }
    const Tensor row = random_tensor({1, 9}, 3, device);
    check(row.broadcast_to({4, 9}), y.slice(0, 1, 1).reshape({9, 7}));
    check(x, row.transpose().broadcast_to({9, 5}));
  });
}

TEST_CASE("gemm: with k = 0, the result is beta * C") {
  for_each_device([](Device device) {
    Tensor c = Tensor::full({2, 3}, 4, device);
    gemm(Tensor({2, 0}, DType::f32, device), Tensor({0, 3}, DType::f32, device), c, {.beta = 0.5f});
    CHECK(c.to_vector() == std::vector<float>(6, 2.0f));
    CHECK(matmul(Tensor({0, 4}, DType::f32, device), Tensor({4, 3}, DType::f32, device)).size() ==
          0);
  });
}

TEST_CASE("gemm: with alpha 0, A and B are ignored, even a NaN") {
  for_each_device([](Device device) {
    Tensor a = Tensor::full({3, 4}, std::nanf(""), device), b = Tensor::full({4, 2}, 1, device),
           c = Tensor::full({3, 2}, 6, device);
    gemm(a, b, c, {.alpha = 0, .beta = 0.5f});
    check_close(c, Doubles(6, 3), 0);
  });
}

TEST_CASE("gemm: shapes that do not match are refused, with both shapes") {
  Tensor a({2, 3}), b({3, 4}), c({2, 4}), wrong({2, 5}), vector({4});
  CHECK_THROWS_WITH_AS(gemm(a, a, c),
                       "[gemm] expected op(B) with 3 rows for A [2, 3], got 2 in B [2, 3]",
                       ShapeError);
  CHECK_THROWS_AS(gemm(a, b, wrong), ShapeError);
  CHECK_THROWS_AS(gemm(a, vector, c), ShapeError);
  CHECK_THROWS_AS(gemm(a, b, c, {.bias_per_row = &vector}), ShapeError);
  CHECK_THROWS_AS(gemm(a, Tensor({3, 4}, DType::i32), c), ShapeError);
  CHECK_THROWS_AS(gemm(a, Tensor(), c), ShapeError);
  CHECK_THROWS_AS(matmul(vector, b), ShapeError);
  Tensor square({4, 4});
  CHECK_THROWS_AS(gemm(square, random_tensor({4, 4}, 1), square), ShapeError);
  Tensor batch({2, 2, 4});
  CHECK_THROWS_AS(gemm(random_tensor({3, 2, 3}, 1), b, batch), ShapeError);
}

TEST_CASE("gemm: f64, every size and transposition, strided, with alpha and beta") {
  for_each_device([](Device device) {
    if (!device.holds(DType::f64)) return;
    struct {
      int64_t m, n, k;
    } const sizes[] = {{1, 1, 1},    {1, 7, 3},     {13, 17, 5},    {14, 16, 8},
                       {29, 65, 61}, {15, 33, 641}, {300, 257, 97}, {5, 4100, 3}};
    Random random(9);
    const auto numbers = [&](int64_t count) {
      std::vector<double> values(static_cast<size_t>(count));
      for (double& v : values) v = random.uniform() - 0.5;
      return values;
    };
    for (const auto& s : sizes)
      for (int t = 0; t < 4; ++t) {
        CAPTURE(s.m);
        CAPTURE(s.n);
        CAPTURE(s.k);
        CAPTURE(t);
        const bool ta = t & 1, tb = t & 2;
        const Shape shape_a = ta ? Shape{s.k, s.m} : Shape{s.m, s.k};
        const Shape shape_b = tb ? Shape{s.n, s.k} : Shape{s.k, s.n};
        const std::vector<double> a = numbers(s.m * s.k), b = numbers(s.k * s.n);
        std::vector<double> c = numbers(s.m * (s.n + 3));
        const Tensor x = Tensor::from(std::span<const double>(a), shape_a, device);
        const Tensor y = Tensor::from(std::span<const double>(b), shape_b, device);
        const Tensor z = Tensor::from(std::span<const double>(c), {s.m, s.n + 3}, device);
        Tensor view = z.slice(1, 1, s.n);
        gemm(x, y, view, {.transpose_a = ta, .transpose_b = tb, .alpha = -0.3, .beta = 0.7});
        double worst = 0;
        for (int64_t i = 0; i < s.m; ++i)
          for (int64_t j = 0; j < s.n; ++j) {
            double& value = c[i * (s.n + 3) + 1 + j];
            double total = 0;
            for (int64_t p = 0; p < s.k; ++p)
              total += a[ta ? p * s.m + i : i * s.k + p] * b[tb ? j * s.k + p : p * s.n + j];
            value = 0.7 * value - 0.3 * total;
          }
        const std::vector<double> got = z.to_vector<double>();
        for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(got[i] - c[i]));
        // Up to 641 products below 1/4 have a rounding error of less than 641 * 641 / 4 * 2^-53.
        CHECK(worst < 1e-13);
      }
  });
}

TEST_CASE("gemm: f64 batches, zero sizes and NaN") {
  for_each_device([](Device device) {
    if (!device.holds(DType::f64)) return;
    const Tensor a = Tensor::zeros({3, 2, 0}, DType::f64, device),
                 b = Tensor::zeros({0, 4}, DType::f64, device);
    CHECK(matmul(a, b).to_vector<double>() == std::vector<double>(24, 0.0));
    std::vector<double> ones(18, 1.0);
    const Tensor x = Tensor::from(std::span<const double>(ones), {3, 2, 3}, device);
    ones[0] = std::numeric_limits<double>::quiet_NaN();
    const Tensor y = Tensor::from(std::span<const double>(ones.data(), 6), {3, 2}, device);
    const std::vector<double> c = matmul(x, y).to_vector<double>();
    for (size_t i = 0; i < c.size(); ++i) {
      if (i % 2 == 0)
        CHECK(std::isnan(c[i]));
      else
        CHECK(c[i] == 3);
    }
  });
}

TEST_CASE("gemm: f64 has clear errors, and the bits do not depend on the threads") {
  const Tensor a = Tensor::zeros({2, 3}, DType::f64), b = Tensor::zeros({3, 2});
  CHECK_THROWS_WITH_AS(matmul(a, b), "[gemm] expected tensors of one type, got f64 and f32",
                       ShapeError);
  Tensor c({2, 2}, DType::f64);
  const Tensor wide = Tensor::zeros({3, 2}, DType::f64);
  CHECK_THROWS_WITH_AS(
      gemm(a, wide, c, {.activation = Activation::relu}),
      "[gemm] a product of type f64 has no bias and no activation; apply them separately",
      ShapeError);
  Random random(4);
  std::vector<double> values(400 * 700);
  for (double& v : values) v = random.uniform();
  const Tensor x = Tensor::from(std::span<const double>(values), {400, 700});
  set_thread_count(1);
  const std::vector<double> one = matmul(x, x, false, true).to_vector<double>();
  set_thread_count(3);
  CHECK(matmul(x, x, false, true).to_vector<double>() == one);
  set_thread_count(0);
}
