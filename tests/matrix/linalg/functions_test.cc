// SPDX-License-Identifier: MIT
// General eigenvalues, least squares, norms, exponentials and Kronecker products.
#include <algorithm>
#include <numeric>

#include "matrix/linalg/eig.h"
#include "matrix/linalg/expm.h"
#include "matrix/linalg/kron.h"
#include "matrix/linalg/least_squares.h"
#include "matrix/linalg/matrix_norm.h"
#include "tests/support/matrices.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

/// A v = value v, vectors of norm 1, and values that add up to the trace.
void check_eig(const Matrix& a, Device device, DType type) {
  const int64_t n = a.rows;
  const EigResult result = eig(tensor_of(a, type, device));
  const Matrix real = matrix_of(result.vectors.real),
               imaginary = matrix_of(result.vectors.imaginary);
  const std::vector<double> x = values_of(result.values.real),
                            y = values_of(result.values.imaginary);
  CHECK(result.values.real.device() == device);
  Matrix wanted_real = real, wanted_imaginary = imaginary;
  double sum = 0, trace_of = 0;
  for (int64_t j = 0; j < n; ++j) {
    sum += x[j];
    trace_of += a(j, j);
    double norm = 0;
    for (int64_t i = 0; i < n; ++i) {
      wanted_real(i, j) = x[j] * real(i, j) - y[j] * imaginary(i, j);
      wanted_imaginary(i, j) = x[j] * imaginary(i, j) + y[j] * real(i, j);
      norm += real(i, j) * real(i, j) + imaginary(i, j) * imaginary(i, j);
    }
    CHECK(norm == doctest::Approx(1).epsilon(1e-5));
  }
  // The QR algorithm is stable: its errors grow with n times the precision.
  const double limit = 8 * precision_of(type) * static_cast<double>(n + 8) * size_of(a);
  CHECK(size_of(a * real - wanted_real) <= limit);
  CHECK(size_of(a * imaginary - wanted_imaginary) <= limit);
  CHECK(std::abs(sum - trace_of) <= limit * std::sqrt(static_cast<double>(n)));
}

/// Zero rows and columns give a defective eigenvalue 0, whose rounding errors are very different.
Matrix with_zeros(int64_t n, uint64_t seed) {
  Matrix a = random_matrix(n, n, seed);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j)
      if (i % 3 == 0 || j % 4 == 0) a(i, j) = 0;
  return a;
}

}  // namespace

TEST_CASE("eig: A v = value v, and conjugate pairs") {
  for_each_type([](Device device, DType type) {
    for (int64_t n : {1, 2, 3, 7, 17, 33, 64, 101}) {
      CAPTURE(n);
      check_eig(random_matrix(n, n, 1), device, type);
    }
  });
}

TEST_CASE("eig: a defective eigenvalue 0, and sums of permutations") {
  for (uint64_t seed = 0; seed < (KAISEKI_SLOW ? 20 : 150); ++seed) {
    CAPTURE(seed);
    check_eig(with_zeros(20, seed), Device::cpu(), DType::f64);
    Random random(seed);
    Matrix sum(20, 20);
    for (int part = 0; part < 2; ++part) {
      std::vector<int64_t> to(20);
      std::iota(to.begin(), to.end(), 0);
      for (size_t i = 19; i > 0; --i) std::swap(to[i], to[random.below(i + 1)]);
      for (int64_t i = 0; i < 20; ++i) sum(i, to[static_cast<size_t>(i)]) += 1;
    }
    check_eig(sum, Device::cpu(), DType::f64);
  }
}

TEST_CASE("eig: a small block beside a large element keeps its digits") {
  for (DType type : {DType::f32, DType::f64}) {
    CAPTURE(type);
    const double e = type == DType::f32 ? 1e-12 : 1e-30;
    Matrix a = identity(3);
    a(1, 1) = 2 * e, a(1, 2) = a(2, 1) = e, a(2, 2) = 3 * e;
    const std::vector<double> values =
        values_of(eig(tensor_of(a, type, Device::cpu())).values.real);
    const auto [low, high] = std::minmax(values[1], values[2]);
    CHECK(low == doctest::Approx((2.5 - std::sqrt(1.25)) * e).epsilon(1e-5));
    CHECK(high == doctest::Approx((2.5 + std::sqrt(1.25)) * e).epsilon(1e-5));
  }
}

// From 257 rows on, sweeps have many shifts. These matrices have multiple or defective eigenvalues,
// rounding errors of very different sizes, or stop an iteration without exceptional shifts.
TEST_CASE("eig: difficult matrices of many rows") {
  const int64_t n = 263;
  const Matrix random = random_matrix(n, n, 4), left = random_matrix(n, 1, 5);
  Matrix ones(n, n), shift(n, n), nilpotent(n, n), frank(n, n), graded(n, n), skew(n, n),
      companion(n, n), blocks(n, n), tiny = random;
  for (int64_t i = 0; i < n; ++i) {
    shift(i, (i + 1) % n) = 1;
    if (i > 0) nilpotent(i, i - 1) = companion(i, i - 1) = 1;
    companion(0, i) = random(0, i);
    for (int64_t j = 0; j < n; ++j) {
      ones(i, j) = 1;
      if (j >= i - 1) frank(i, j) = static_cast<double>(n - std::max(i, j));
      graded(i, j) = random(i, j) * std::pow(10, -6.0 * static_cast<double>(i) / n);
      skew(i, j) = random(i, j) - random(j, i);
      if (i / 7 == j / 7) blocks(i, j) = random(i, j);
      tiny(i, j) *= 1e-36;
    }
  }
  // The large block begins in the middle.
  Matrix middle = identity(n + 60);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) middle(i + 30, j + 30) = random(i, j);
  const Matrix rank_one = left * transposed(random_matrix(n, 1, 6));
  Matrix near_identity = rank_one;
  for (int64_t i = 0; i < n; ++i) near_identity(i, i) += 1;
  const std::vector<std::pair<const char*, Matrix>> matrices = {
      {"random", random},
      {"of ones", ones},
      {"a cyclic shift", shift},
      {"nilpotent", nilpotent},
      {"Frank's", frank},
      {"graded", graded},
      {"skew", skew},
      {"a companion", companion},
      {"blocks", blocks},
      {"tiny", tiny},
      {"a middle block", middle},
      {"zero rows", with_zeros(270, 6)},
      {"rank 1", rank_one},
      {"identity and rank 1", near_identity}};
  for (const auto& entry : matrices)
    for (DType type : {DType::f32, DType::f64}) {
      if (KAISEKI_SLOW && type == DType::f32) continue;  // the same templates as f64
      CAPTURE(entry.first);
      CAPTURE(type);
      check_eig(entry.second, Device::cpu(), type);
    }
}

TEST_CASE("eig: known eigenvalues, empty shapes and errors") {
  for_each_type([](Device device, DType type) {
    Matrix rotation(2, 2);
    rotation(0, 1) = -1, rotation(1, 0) = 1;
    const EigResult turned = eig(tensor_of(rotation, type, device));
    CHECK(std::abs(values_of(turned.values.real)[0]) < 1e-6);
    CHECK(std::abs(values_of(turned.values.imaginary)[0]) == doctest::Approx(1));
    CHECK(values_of(turned.values.imaginary)[0] == -values_of(turned.values.imaginary)[1]);
    CHECK(values_of(eig(Tensor::zeros({3, 3}, type, device)).values.real) ==
          std::vector<double>{0, 0, 0});
    CHECK(eig(Tensor({0, 0}, type, device)).vectors.real.shape() == Shape{0, 0});
    CHECK(eig(Tensor({2, 0, 0}, type, device)).values.imaginary.shape() == Shape{2, 0});
    Matrix wrong = identity(2);
    wrong(0, 0) = std::nan("");
    CHECK_THROWS_AS(eig(tensor_of(wrong, type, device)), LinearAlgebraError);
    CHECK_THROWS_AS(eig(tensor_of(Matrix(2, 3), type, device)), ShapeError);
  });
}

TEST_CASE("pinv: the four conditions of Penrose, for every rank") {
  for_each_type([](Device device, DType type) {
    for (const auto& shape : {std::pair<int64_t, int64_t>{5, 5}, {20, 7}, {7, 20}, {1, 3}}) {
      const int64_t m = shape.first, n = shape.second;
      for (int64_t rank : {int64_t{1}, std::min<int64_t>(3, std::min(m, n)), std::min(m, n)}) {
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(rank);
        const Matrix a = random_matrix(m, rank, 2) * random_matrix(rank, n, 3);
        const Tensor t = tensor_of(a, type, device);
        const double cutoff = type == DType::f64 ? 1e-10 : 1e-5;
        const Matrix p = matrix_of(pinv(t, cutoff));
        CHECK(matrix_rank(t, cutoff).to_vector<int32_t>() ==
              std::vector<int32_t>{static_cast<int32_t>(rank)});
        // The condition of these products is below 1e3.
        const double limit = 1e3 * precision_of(type);
        CHECK(size_of(a * p * a - a) <= limit * size_of(a));
        CHECK(size_of(p * a * p - p) <= limit * size_of(p));
        CHECK(size_of(transposed(a * p) - a * p) <= limit * 10);
        CHECK(size_of(transposed(p * a) - p * a) <= limit * 10);
      }
    }
  });
}

TEST_CASE("lstsq: the residual is orthogonal to the columns, and the norm is least") {
  for_each_type([](Device device, DType type) {
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{30, 11}, {11, 30}, {12, 12}}) {
      const Matrix a = random_matrix(m, n, 4), b = random_matrix(m, 3, 5);
      const LstsqResult result = lstsq(tensor_of(a, type, device), tensor_of(b, type, device));
      const Matrix x = matrix_of(result.x);
      const double limit = 1e3 * precision_of(type) * size_of(a) * size_of(b);
      CHECK(size_of(transposed(a) * (a * x - b)) <= limit * size_of(a));
      CHECK(result.rank.to_vector<int32_t>()[0] == std::min(m, n));
      CHECK(result.s.shape() == Shape{std::min(m, n)});
      // The x of least norm is in the range of A^T: it equals pinv(A) A x.
      const Matrix p = matrix_of(pinv(tensor_of(a, type, device)));
      CHECK(size_of(p * (a * x) - x) <= limit);
    }
    const Tensor vector =
        lstsq(Tensor::zeros({4, 3}, type, device), Tensor::zeros({4}, type, device)).x;
    CHECK(values_of(vector) == std::vector<double>{0, 0, 0});
    CHECK(lstsq(Tensor({0, 3}, type, device), Tensor({0, 2}, type, device)).x.shape() ==
          Shape{3, 2});
    CHECK(values_of(pinv(Tensor({0, 3}, type, device))).empty());
    CHECK(matrix_rank(Tensor::zeros({2, 5, 3}, type, device)).to_vector<int32_t>() ==
          std::vector<int32_t>{0, 0});
    CHECK_THROWS_AS(lstsq(Tensor::zeros({4, 3}, type, device), Tensor::zeros({3}, type, device)),
                    ShapeError);
    CHECK_THROWS_AS(pinv(Tensor::zeros({4, 3}, type, device), -1.0), ShapeError);
  });
}

TEST_CASE("matrix_norm and trace: as their definitions") {
  for_each_type([](Device device, DType type) {
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>{1, 1}, {4, 7}, {13, 5}}) {
      const Matrix a = random_matrix(m, n, 6);
      const Tensor t = tensor_of(a, type, device);
      double rows = 0, columns = 0, sum = 0;
      for (int64_t i = 0; i < m; ++i) {
        double row = 0;
        for (int64_t j = 0; j < n; ++j) row += std::abs(a(i, j));
        rows = std::max(rows, row);
        if (i < n) sum += a(i, i);
      }
      for (int64_t j = 0; j < n; ++j) {
        double column = 0;
        for (int64_t i = 0; i < m; ++i) column += std::abs(a(i, j));
        columns = std::max(columns, column);
      }
      const auto norm = [&](MatrixNorm kind) { return values_of(matrix_norm(t, kind))[0]; };
      CHECK(norm(MatrixNorm::frobenius) == doctest::Approx(size_of(a)));
      CHECK(norm(MatrixNorm::infinity) == doctest::Approx(rows));
      CHECK(norm(MatrixNorm::one) == doctest::Approx(columns));
      CHECK(values_of(trace(t))[0] == doctest::Approx(sum));
      // ||A||_F <= nuclear norm, and ||A||_2 <= ||A||_F <= sqrt(rank) ||A||_2.
      CHECK(norm(MatrixNorm::two) <= size_of(a) * 1.00001);
      CHECK(norm(MatrixNorm::nuclear) * 1.00001 >= size_of(a));
    }
    Matrix known(2, 2);
    known(0, 0) = 3, known(1, 1) = -4;
    const Tensor t = tensor_of(known, type, device);
    CHECK(values_of(matrix_norm(t, MatrixNorm::two))[0] == doctest::Approx(4));
    CHECK(values_of(matrix_norm(t, MatrixNorm::nuclear))[0] == doctest::Approx(7));
    for (MatrixNorm kind : {MatrixNorm::frobenius, MatrixNorm::one, MatrixNorm::infinity,
                            MatrixNorm::two, MatrixNorm::nuclear})
      CHECK(values_of(matrix_norm(Tensor({2, 0, 3}, type, device), kind)) ==
            std::vector<double>{0, 0});
    const double huge = type == DType::f64 ? 1e300 : 1e37;
    CHECK(values_of(matrix_norm(tensor_of(diagonal({huge, huge}, 2, 2), type, device)))[0] ==
          doctest::Approx(huge * std::sqrt(2)));
  });
}

TEST_CASE("expm: the series, known exponentials, and the inverse of the negative") {
  for_each_type([](Device device, DType type) {
    for (int64_t n : {1, 2, 5, 17}) {
      Matrix a = random_matrix(n, n, 7), negative = a;
      for (double& v : negative.values) v = -v;
      Matrix term = identity(n), series = term;
      for (int k = 1; k < 80; ++k) {
        term = term * a;
        for (size_t i = 0; i < term.values.size(); ++i) {
          term.values[i] /= k;
          series.values[i] += term.values[i];
        }
      }
      const Matrix e = matrix_of(expm(tensor_of(a, type, device)));
      // The series itself loses digits as far as its terms exceed the result.
      CHECK(size_of(e - series) <= 100 * precision_of(type) * size_of(series));
      const Matrix back = matrix_of(expm(tensor_of(negative, type, device)));
      CHECK(size_of(e * back - identity(n)) <=
            100 * precision_of(type) * size_of(e) * size_of(back));
    }
    Matrix nilpotent(2, 2);
    nilpotent(0, 1) = 1e4;
    CHECK(matrix_of(expm(tensor_of(nilpotent, type, device)))(0, 1) == doctest::Approx(1e4));
    CHECK(matrix_of(expm(tensor_of(diagonal({20, -30}, 2, 2), type, device)))(0, 0) ==
          doctest::Approx(std::exp(20.0)));
    CHECK(matrix_of(expm(Tensor::zeros({3, 3}, type, device))).values == identity(3).values);
    CHECK(expm(Tensor({0, 0}, type, device)).shape() == Shape{0, 0});
    Matrix wrong = identity(2);
    wrong(1, 1) = std::numeric_limits<double>::infinity();
    CHECK_THROWS_AS(expm(tensor_of(wrong, type, device)), LinearAlgebraError);
  });
}

TEST_CASE("kron: every block, batches and empty shapes") {
  for_each_type([](Device device, DType type) {
    const Matrix a = random_matrix(3, 4, 8), b = random_matrix(5, 2, 9);
    const uint64_t before = fallback_count();
    const Matrix k = matrix_of(kron(tensor_of(a, type, device), tensor_of(b, type, device)));
    CHECK(fallback_count() == before + (type == DType::f64 && !device.is_cpu() ? 1 : 0));
    REQUIRE(k.rows == 15);
    REQUIRE(k.columns == 8);
    for (int64_t i = 0; i < 15; ++i)
      for (int64_t j = 0; j < 8; ++j)
        CHECK(k(i, j) == doctest::Approx(a(i / 5, j / 2) * b(i % 5, j % 2)));
    CHECK(kron(Tensor({2, 1, 3}, type, device), Tensor({2, 0, 2}, type, device)).shape() ==
          Shape{2, 0, 6});
    CHECK_THROWS_AS(kron(Tensor({2, 1, 3}, type, device), Tensor({1, 3}, type, device)),
                    ShapeError);
  });
}
