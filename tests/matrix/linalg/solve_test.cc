// SPDX-License-Identifier: MIT
#include "matrix/linalg/solve.h"

#include "matrix/linalg/cholesky.h"
#include "matrix/linalg/lu.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/matrices.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

constexpr int64_t kSizes[] = {1, 2, 3, 7, 16, 17, 31, 33, 64, 101, 130, 257};

/// Gaussian elimination in double, by plain loops.
double plain_determinant(Matrix a) {
  double product = 1;
  for (int64_t j = 0; j < a.rows; ++j) {
    int64_t pivot = j;
    for (int64_t i = j + 1; i < a.rows; ++i)
      if (std::abs(a(i, j)) > std::abs(a(pivot, j))) pivot = i;
    if (a(pivot, j) == 0) return 0;
    if (pivot != j) product = -product;
    for (int64_t c = 0; c < a.rows; ++c) std::swap(a(j, c), a(pivot, c));
    product *= a(j, j);
    for (int64_t i = j + 1; i < a.rows; ++i) {
      const double factor = a(i, j) / a(j, j);
      for (int64_t c = j; c < a.rows; ++c) a(i, c) -= factor * a(j, c);
    }
  }
  return product;
}

}  // namespace

TEST_CASE("lu: P A = L U, for tall, wide and square matrices") {
  for_each_type([](Device device, DType type) {
    for (int64_t n : kSizes)
      for (const auto& shape : {std::pair{n, n}, {n, n / 2 + 1}, {n / 3 + 1, n}}) {
        const int64_t rows = shape.first, columns = shape.second;
        CAPTURE(rows);
        CAPTURE(columns);
        const Matrix a = random_matrix(rows, columns, 1);
        const LuResult result = lu(tensor_of(a, type, device));
        CHECK(result.l.device() == device);
        const Matrix l = matrix_of(result.l), u = matrix_of(result.u);
        const std::vector<int32_t> order = result.permutation.to_vector<int32_t>();
        Matrix exchanged(rows, columns);
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j) exchanged(i, j) = a(order[i], j);
        // LU with partial pivoting is stable: the residual grows with n times the precision.
        CHECK(size_of(l * u - exchanged) <=
              precision_of(type) * 4 * static_cast<double>(n + 4) * size_of(a));
        CHECK(largest_of(l) == 1);
        int64_t wrong = 0;
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = i; j < l.columns; ++j) wrong += l(i, j) != (i == j);
        for (int64_t i = 0; i < u.rows; ++i)
          for (int64_t j = 0; j < i; ++j) wrong += u(i, j) != 0;
        CHECK(wrong == 0);
      }
  });
}

TEST_CASE("solve and inv: the residual is at the precision of the type") {
  for_each_type([](Device device, DType type) {
    for (int64_t n : kSizes) {
      CAPTURE(n);
      const Matrix a = random_matrix(n, n, 2);
      // LAPACK's test: the residual by the precision, n, and the norms of A and X.
      const double bound = precision_of(type) * static_cast<double>(n + 8) * size_of(a);
      for (int64_t sides : {1, 5, 67}) {
        CAPTURE(sides);
        const Matrix b = random_matrix(n, sides, 3);
        const Matrix x = matrix_of(solve(tensor_of(a, type, device), tensor_of(b, type, device)));
        CHECK(size_of(a * x - b) <= bound * size_of(x));
      }
      const Matrix inverse = matrix_of(inv(tensor_of(a, type, device)));
      CHECK(size_of(a * inverse - identity(n)) <= bound * size_of(inverse));
    }
  });
}

TEST_CASE("solve: a vector, a batch, a transposed view and empty shapes") {
  for_each_type([](Device device, DType type) {
    const Tensor a = tensor_of({random_matrix(1, 5 * 9, 4)}, type, device, {5, 3, 3});
    const Tensor b = tensor_of(random_matrix(1, 15, 5), type, device, {5, 3});
    const Tensor x = solve(a, b);
    REQUIRE(x.shape() == Shape{5, 3});
    CHECK(x.device() == device);
    for (int64_t i = 0; i < 5; ++i) {
      Matrix one(3, 1), side(3, 1);
      for (int64_t j = 0; j < 3; ++j) {
        one(j, 0) = values_of(x)[i * 3 + j];
        side(j, 0) = values_of(b)[i * 3 + j];
      }
      CHECK(size_of(matrix_of(a, i) * one - side) <
            1e-4);  // the matrices have a condition below 100
    }
    const Tensor view = a.slice(0, 0, 1).reshape({3, 3}).transpose();
    const Matrix y = matrix_of(solve(view, tensor_of(random_matrix(3, 2, 6), type, device)));
    CHECK(size_of(matrix_of(view.contiguous()) * y - random_matrix(3, 2, 6)) < 1e-4);
    CHECK(solve(Tensor({0, 0}, type, device), Tensor({0, 4}, type, device)).shape() == Shape{0, 4});
    CHECK(solve(Tensor({0, 3, 3}, type, device), Tensor({0, 3}, type, device)).shape() ==
          Shape{0, 3});
    CHECK(inv(Tensor({2, 0, 0}, type, device)).shape() == Shape{2, 0, 0});
    CHECK(values_of(det(Tensor({2, 0, 0}, type, device))) == std::vector<double>{1, 1});
    CHECK(lu(Tensor({0, 3}, type, device)).u.shape() == Shape{0, 3});
  });
}

TEST_CASE("det and slogdet: as plain elimination") {
  for_each_type([](Device device, DType type) {
    for (int64_t n : {1, 2, 3, 7, 17, 20}) {
      CAPTURE(n);
      const Matrix a = random_matrix(n, n, 7);
      const double expected = plain_determinant(a);
      const Tensor t = tensor_of(a, type, device);
      // The condition of these matrices is below 1e3.
      const double tolerance = 1e3 * static_cast<double>(n) * precision_of(type);
      CHECK(values_of(det(t))[0] == doctest::Approx(expected).epsilon(tolerance));
      const SlogdetResult result = slogdet(t);
      CHECK(values_of(result.sign)[0] == std::copysign(1.0, expected));
      CHECK(std::abs(values_of(result.log)[0] - std::log(std::abs(expected))) <=
            tolerance * (1 + std::abs(std::log(std::abs(expected)))));
    }
    Matrix singular(3, 3);
    singular(0, 0) = singular(1, 0) = 1;
    CHECK(values_of(det(tensor_of(singular, type, device)))[0] == 0);
    const SlogdetResult zero = slogdet(tensor_of(singular, type, device));
    CHECK(values_of(zero.sign)[0] == 0);
    CHECK(values_of(zero.log)[0] == -std::numeric_limits<double>::infinity());
    // A determinant of 1e-400 or 1e400 has a logarithm.
    for (double factor : {1e-20, 1e20}) {
      Matrix large(20, 20);
      for (int64_t i = 0; i < 20; ++i) large(i, i) = factor;
      CHECK(values_of(slogdet(tensor_of(large, type, device)).log)[0] ==
            doctest::Approx(20 * std::log(factor)).epsilon(1e-6));
    }
  });
}

TEST_CASE("cholesky: A = L L^T, and only the lower triangle is read") {
  for_each_type([](Device device, DType type) {
    for (int64_t n : {1, 2, 3, 7, 31, 32, 33, 65, 127, 128, 129, 192, 193, 257, 300}) {
      CAPTURE(n);
      const Matrix factor = random_matrix(n, n + 3, 8);
      Matrix a = factor * transposed(factor), lower = a;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i + 1; j < n; ++j) lower(i, j) = 77;
      const Matrix l = matrix_of(cholesky(tensor_of(lower, type, device)));
      CHECK(size_of(l * transposed(l) - a) <=
            precision_of(type) * static_cast<double>(n + 4) * size_of(a));
      int64_t wrong = 0;
      for (int64_t i = 0; i < n; ++i) {
        wrong += !(l(i, i) > 0);
        for (int64_t j = i + 1; j < n; ++j) wrong += l(i, j) != 0;
      }
      CHECK(wrong == 0);
    }
    CHECK(cholesky(Tensor({0, 0}, type, device)).shape() == Shape{0, 0});
    Matrix squares(200, 200);
    for (int64_t i = 0; i < 200; ++i) squares(i, i) = static_cast<double>((i + 1) * (i + 1));
    const Matrix roots = matrix_of(cholesky(tensor_of(squares, type, device)));
    for (int64_t i = 0; i < 200; ++i) CHECK(roots(i, i) == static_cast<double>(i + 1));
  });
}

TEST_CASE("solve, inv, cholesky, lu and det: errors name what is wrong") {
  for_each_type([](Device device, DType type) {
    Matrix singular(3, 3);
    singular(0, 0) = singular(1, 1) = 1;
    const Tensor a = tensor_of(singular, type, device), b = tensor_of(Matrix(3, 1), type, device);
    CHECK_THROWS_WITH_AS(solve(a, b),
                         "[solve] expected an invertible matrix, got a pivot of 0 in column 2",
                         LinearAlgebraError);
    Matrix batch(6, 3);
    for (int64_t i = 0; i < 3; ++i) batch(i, i) = 1;
    CHECK_THROWS_WITH_AS(
        inv(tensor_of(batch, type, device, {2, 3, 3})),
        "[inv] expected an invertible matrix, got a pivot of 0 in column 0 of matrix 1",
        LinearAlgebraError);
    CHECK_THROWS_WITH_AS(
        cholesky(a), "[cholesky] expected a positive definite matrix, got a pivot of 0 in column 2",
        LinearAlgebraError);
    for (double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      Matrix wrong = identity(3);
      wrong(2, 0) = bad;
      const Tensor t = tensor_of(wrong, type, device);
      CHECK_THROWS_WITH_AS(inv(t), "[inv] expected finite elements, got NaN or infinity",
                           LinearAlgebraError);
      CHECK_THROWS_AS(lu(t), LinearAlgebraError);
      CHECK_THROWS_AS(det(t), LinearAlgebraError);
      CHECK_THROWS_AS(cholesky(t), LinearAlgebraError);
      CHECK_THROWS_AS(solve(tensor_of(identity(3), type, device), t), LinearAlgebraError);
    }
    CHECK_THROWS_WITH_AS(det(b), "[det] expected square matrices, got [3, 1]", ShapeError);
    CHECK_THROWS_WITH_AS(
        solve(a, tensor_of(Matrix(2, 1), type, device)),
        "[solve] expected B of shape [3] or with one more dimension, for A [3, 3], "
        "got [2, 1]",
        ShapeError);
    CHECK_THROWS_AS(lu(Tensor({3}, type, device)), ShapeError);
    CHECK_THROWS_AS(inv(Tensor({3, 3}, DType::i32, device)), ShapeError);
    CHECK_THROWS_AS(inv(Tensor()), ShapeError);
  });
}

TEST_CASE("solve: the bits do not depend on the number of threads") {
  const Matrix a = random_matrix(301, 301, 9), b = random_matrix(301, 40, 10);
  for (DType type : {DType::f32, DType::f64}) {
    const Tensor x = tensor_of(a, type, Device::cpu()), y = tensor_of(b, type, Device::cpu());
    set_thread_count(1);
    const std::vector<double> one = values_of(solve(x, y));
    set_thread_count(3);
    CHECK(values_of(solve(x, y)) == one);
  }
  set_thread_count(0);
}

TEST_CASE("linear algebra on another device is a counted fallback") {
  for (Device device : all_devices()) {
    const uint64_t before = fallback_count();
    const Tensor x = inv(tensor_of(identity(4), DType::f32, device));
    CHECK(x.device() == device);
    CHECK(fallback_count() - before == (device.is_cpu() ? 0 : 1));
  }
}
