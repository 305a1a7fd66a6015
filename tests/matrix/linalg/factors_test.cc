// SPDX-License-Identifier: MIT
// Orthogonal factors: QR, symmetric eigenvalues and SVD.
#include "matrix/linalg/eigh.h"
#include "matrix/linalg/qr.h"
#include "matrix/linalg/svd.h"
#include "matrix/threads.h"
#include "tests/support/matrices.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

/// LAPACK's tests accept residuals up to 30 n times the precision. Ours are below 4 n.
double bound(DType type, int64_t n) { return 4 * precision_of(type) * static_cast<double>(n + 8); }

const std::pair<int64_t, int64_t> kShapes[] = {{1, 1}, {1, 5},   {5, 1},    {2, 2},    {7, 3},
                                               {3, 7}, {17, 17}, {33, 64},  {64, 33},  {65, 65},
                                               {8, 1}, {97, 97}, {200, 70}, {70, 131}, {129, 129}};

void check_svd(const Matrix& a, DType type, Device device, FactorSize size = FactorSize::thin) {
  const SvdResult result = svd(tensor_of(a, type, device), size);
  const Matrix u = matrix_of(result.u), vt = matrix_of(result.vt);
  const std::vector<double> s = values_of(result.s);
  const double limit = bound(type, std::max(a.rows, a.columns));
  CHECK(result.s.device() == device);
  CHECK(orthogonality(u) <= limit * std::sqrt(static_cast<double>(u.columns)));
  CHECK(orthogonality(transposed(vt)) <= limit * std::sqrt(static_cast<double>(vt.rows)));
  CHECK(size_of(u * diagonal(s, u.columns, vt.rows) * vt - a) <= limit * size_of(a));
  for (size_t i = 0; i < s.size(); ++i) {
    CHECK(s[i] >= 0);
    if (i > 0) CHECK(s[i] <= s[i - 1]);
  }
}

void check_eigh(const Matrix& a, DType type, Device device) {
  const EighResult result = eigh(tensor_of(a, type, device));
  const std::vector<double> values = values_of(result.values);
  const Matrix v = matrix_of(result.vectors);
  const double limit = bound(type, a.rows);
  CHECK(orthogonality(v) <= limit * std::sqrt(static_cast<double>(a.rows)));
  CHECK(size_of(a * v - v * diagonal(values, a.rows, a.rows)) <= limit * size_of(a));
  const std::vector<double> alone = values_of(eigvalsh(tensor_of(a, type, device)));
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) CHECK(values[i] >= values[i - 1]);
    CHECK(std::abs(values[i] - alone[i]) <= limit * size_of(a));
  }
}

/// V diag(values) V^T with a random orthogonal V.
Matrix symmetric_with(const std::vector<double>& values, uint64_t seed) {
  const auto n = static_cast<int64_t>(values.size());
  const Matrix v = matrix_of(qr(tensor_of(random_matrix(n, n, seed), DType::f64, Device::cpu())).q);
  Matrix a = v * diagonal(values, n, n) * transposed(v);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < i; ++j) a(i, j) = a(j, i);
  return a;
}

}  // namespace

TEST_CASE("qr: A = Q R, thin and full") {
  for_each_type([](Device device, DType type) {
    for (const auto& shape : kShapes)
      for (FactorSize size : {FactorSize::thin, FactorSize::full}) {
        const int64_t m = shape.first, n = shape.second;
        CAPTURE(m);
        CAPTURE(n);
        const Matrix a = random_matrix(m, n, 1);
        const QrResult result = qr(tensor_of(a, type, device), size);
        const Matrix q = matrix_of(result.q), r = matrix_of(result.r);
        CHECK(q.columns == (size == FactorSize::full ? m : std::min(m, n)));
        CHECK(orthogonality(q) <= bound(type, m) * std::sqrt(static_cast<double>(q.columns)));
        CHECK(size_of(q * r - a) <= bound(type, m) * size_of(a));
        int64_t wrong = 0;
        for (int64_t i = 0; i < r.rows; ++i)
          for (int64_t j = 0; j < std::min(i, n); ++j) wrong += r(i, j) != 0;
        CHECK(wrong == 0);
      }
  });
}

TEST_CASE("qr: zero columns, huge and tiny elements, and empty shapes") {
  for_each_type([](Device device, DType type) {
    const double huge = type == DType::f64 ? 1e300 : 1e37,
                 tiny = type == DType::f64 ? 1e-300 : 1e-36;
    for (double factor : {0.0, 1.0, huge, tiny}) {
      Matrix a = random_matrix(20, 12, 2);
      for (double& v : a.values) v *= factor;
      for (int64_t i = 0; i < 20; ++i) a(i, 4) = 0;
      const QrResult result = qr(tensor_of(a, type, device));
      const Matrix q = matrix_of(result.q), r = matrix_of(result.r);
      CHECK(orthogonality(q) <= 4 * bound(type, 20));
      CHECK(largest_of(q * r - a) <= bound(type, 20) * largest_of(a));
    }
    CHECK(qr(Tensor({0, 3}, type, device)).r.shape() == Shape{0, 3});
    CHECK(qr(Tensor({3, 0}, type, device), FactorSize::full).q.shape() == Shape{3, 3});
    CHECK(qr(Tensor({2, 3, 0}, type, device)).q.shape() == Shape{2, 3, 0});
    CHECK_THROWS_AS(qr(Tensor({3}, type, device)), ShapeError);
  });
}

TEST_CASE("eigh and eigvalsh: random matrices") {
  for_each_type([](Device device, DType type) {
    for (int64_t n : {1, 2, 3, 7, 17, 31, 32, 33, 34, 65, 100, 131, 200}) {
      CAPTURE(n);
      check_eigh(random_symmetric(n, 3), type, device);
    }
  });
}

TEST_CASE("eigh: repeated, clustered and zero eigenvalues") {
  for_each_type([](Device device, DType type) {
    for (int64_t n : {40, 131}) {
      CAPTURE(n);
      const auto size = static_cast<size_t>(n);
      std::vector<double> values(size, 1.0);
      check_eigh(symmetric_with(values, 4), type, device);
      for (size_t i = 0; i < size; ++i) values[i] = i % 3 == 0 ? 2 : -1;
      check_eigh(symmetric_with(values, 5), type, device);
      for (size_t i = 0; i < size; ++i) values[i] = std::pow(10, -static_cast<double>(i) / 4);
      check_eigh(symmetric_with(values, 6), type, device);
      for (size_t i = 0; i < size; ++i) values[i] = 1 + 1e-7 * static_cast<double>(i);
      check_eigh(symmetric_with(values, 7), type, device);
      check_eigh(Matrix(n, n), type, device);
      check_eigh(identity(n), type, device);
      Matrix second(n, n);  // the second difference: its eigenvalues are known
      for (int64_t i = 0; i < n; ++i) {
        second(i, i) = 2;
        if (i > 0) second(i, i - 1) = second(i - 1, i) = -1;
      }
      check_eigh(second, type, device);
      const std::vector<double> found = values_of(eigvalsh(tensor_of(second, type, device)));
      for (int64_t i = 0; i < n; ++i)
        CHECK(std::abs(found[i] - (2 - 2 * std::cos(M_PI * static_cast<double>(i + 1) /
                                                    static_cast<double>(n + 1)))) <=
              bound(type, n));
      Matrix wilkinson(n, n);  // pairs of eigenvalues that nearly agree
      for (int64_t i = 0; i < n; ++i) {
        wilkinson(i, i) = std::abs(static_cast<double>(n / 2 - i));
        if (i > 0) wilkinson(i, i - 1) = wilkinson(i - 1, i) = 1;
      }
      check_eigh(wilkinson, type, device);
    }
  });
}

TEST_CASE("eigh: only the lower triangle is read, sizes of elements do not matter, and errors") {
  for_each_type([](Device device, DType type) {
    Matrix a = random_symmetric(9, 8), lower = a;
    for (int64_t i = 0; i < 9; ++i)
      for (int64_t j = i + 1; j < 9; ++j) lower(i, j) = 1e6;
    CHECK(values_of(eigh(tensor_of(lower, type, device)).values) ==
          values_of(eigh(tensor_of(a, type, device)).values));
    for (double factor : type == DType::f64 ? std::vector<double>{1e300, 1e-300}
                                            : std::vector<double>{1e37, 1e-36}) {
      Matrix scaled = a;
      for (double& v : scaled.values) v *= factor;
      const EighResult result = eigh(tensor_of(scaled, type, device));
      const Matrix v = matrix_of(result.vectors);
      Matrix product = a * v, expected = v;
      const std::vector<double> values = values_of(result.values);
      for (int64_t i = 0; i < 9; ++i)
        for (int64_t j = 0; j < 9; ++j) expected(i, j) *= values[j] / factor;
      CHECK(size_of(product - expected) <= bound(type, 9) * size_of(a));
    }
    CHECK(eigh(Tensor({0, 0}, type, device)).vectors.shape() == Shape{0, 0});
    CHECK(eigvalsh(Tensor({3, 0, 0}, type, device)).shape() == Shape{3, 0});
    const Tensor batch = tensor_of(random_matrix(1, 7 * 16, 9), type, device, {7, 4, 4});
    const EighResult all = eigh(batch);
    REQUIRE(all.values.shape() == Shape{7, 4});
    for (int64_t i = 0; i < 7; ++i)
      CHECK(orthogonality(matrix_of(all.vectors, i)) <= 4 * bound(type, 4));
    Matrix wrong = identity(3);
    wrong(1, 0) = std::nan("");
    CHECK_THROWS_WITH_AS(eigh(tensor_of(wrong, type, device)),
                         "[eigh] expected finite elements, got NaN or infinity",
                         LinearAlgebraError);
    CHECK_THROWS_AS(eigvalsh(tensor_of(Matrix(2, 3), type, device)), ShapeError);
  });
}

TEST_CASE("svd: random matrices, thin and full") {
  for_each_type([](Device device, DType type) {
    for (const auto& shape : kShapes)
      for (FactorSize size : {FactorSize::thin, FactorSize::full}) {
        const int64_t m = shape.first, n = shape.second;
        CAPTURE(m);
        CAPTURE(n);
        check_svd(random_matrix(m, n, 10), type, device, size);
      }
  });
}

TEST_CASE("svd: singular, nearly singular and scaled matrices") {
  for_each_type([](Device device, DType type) {
    for (const auto& shape : {std::pair<int64_t, int64_t>{40, 40}, {60, 35}, {30, 50}}) {
      const int64_t m = shape.first, n = shape.second;
      CAPTURE(m);
      CAPTURE(n);
      check_svd(Matrix(m, n), type, device);
      check_svd(Matrix(m, n), type, device, FactorSize::full);
      check_svd(random_matrix(m, 1, 11) * random_matrix(1, n, 12), type, device);
      check_svd(random_matrix(m, 7, 13) * random_matrix(7, n, 14), type, device, FactorSize::full);
      Matrix ones(m, n), shift(m, n), graded = random_matrix(m, n, 15);
      for (double& v : ones.values) v = 1;
      for (int64_t i = 0; i + 1 < std::min(m, n); ++i) shift(i, i + 1) = 1;
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) graded(i, j) *= std::pow(10, -static_cast<double>(j));
      check_svd(ones, type, device);
      check_svd(shift, type, device);
      check_svd(graded, type, device);
      check_svd(diagonal(std::vector<double>(std::min(m, n), -1), m, n), type, device);
      const double huge = type == DType::f64 ? 1e300 : 1e37, tiny = 1 / huge;
      for (double factor : {huge, tiny}) {
        Matrix a = random_matrix(m, n, 16);
        for (double& v : a.values) v *= factor;
        const std::vector<double> s = values_of(svd(tensor_of(a, type, device)).s);
        const std::vector<double> plain =
            values_of(svd(tensor_of(random_matrix(m, n, 16), type, device)).s);
        for (size_t i = 0; i < s.size(); ++i)
          CHECK(std::abs(s[i] / factor - plain[i]) <= bound(type, m + n) * plain[0]);
      }
    }
    CHECK(svd(Tensor({0, 3}, type, device), FactorSize::full).vt.shape() == Shape{3, 3});
    CHECK(svd(Tensor({4, 0}, type, device)).u.shape() == Shape{4, 0});
    const SvdResult batch = svd(tensor_of(random_matrix(1, 60, 17), type, device, {5, 3, 4}));
    CHECK(batch.vt.shape() == Shape{5, 3, 4});
    for (int64_t i = 0; i < 5; ++i)
      CHECK(orthogonality(matrix_of(batch.u, i)) <= 4 * bound(type, 4));
    Matrix wrong(2, 2);
    wrong(0, 1) = std::numeric_limits<double>::infinity();
    CHECK_THROWS_AS(svd(tensor_of(wrong, type, device)), LinearAlgebraError);
  });
}

TEST_CASE("svd: the vectors of zero singular values, in a matrix of rank 1 or 2") {
  for_each_type([](Device device, DType type) {
    for (int64_t n : {47, 60, 92, 118}) {
      CAPTURE(n);
      Matrix ones(n, n), squares(n, n), ramp(n, n);
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) {
          ones(i, j) = 1;
          squares(i, j) = i % 2 == j % 2;
          ramp(i, j) = static_cast<double>(i + 1);
        }
      check_svd(ones, type, device);
      check_svd(squares, type, device);
      check_svd(ramp, type, device);
    }
  });
}

TEST_CASE("svd: the inverse of the matrix has very large elements") {
  for_each_type([](Device device, DType type) {
    for (int64_t n : {2, 30, 100}) {
      CAPTURE(n);
      Matrix nilpotent(n, n), hilbert(n, n), kahan(n, n), halves(n, n);
      for (int64_t i = 0; i < n; ++i) {
        nilpotent(i, i) = 1e-3;
        if (i + 1 < n) nilpotent(i, i + 1) = 1;
        const double size = std::pow(0.9, static_cast<double>(i));
        kahan(i, i) = size;
        for (int64_t j = i + 1; j < n; ++j) kahan(i, j) = -std::sqrt(1 - 0.81) * size;
        for (int64_t j = 0; j < n; ++j) hilbert(i, j) = 1 / static_cast<double>(i + j + 1);
        if (i < n / 2) halves(i, i) = 1;
      }
      const std::pair<const char*, Matrix> matrices[] = {
          {"nilpotent", nilpotent},
          {"Hilbert", hilbert},
          {"Kahan", kahan},
          {"halves", halves},
          {"product", random_matrix(n, n / 2, 18) * random_matrix(n / 2, n, 19)}};
      for (const auto& named : matrices) {
        const std::string name = named.first;
        CAPTURE(name);
        check_svd(named.second, type, device);
      }
    }
  });
}

TEST_CASE("truncated and randomized SVD: the error is the first omitted singular value") {
  for_each_type([](Device device, DType type) {
    std::vector<double> values(30);
    for (size_t i = 0; i < 30; ++i) values[i] = std::pow(2, -static_cast<double>(i));
    const Matrix left =
        matrix_of(qr(tensor_of(random_matrix(50, 30, 1), DType::f64, Device::cpu())).q);
    const Matrix a = left * symmetric_with(values, 18);
    const Tensor t = tensor_of(a, type, device);
    for (int64_t rank : {0, 1, 5}) {
      CAPTURE(rank);
      for (const SvdResult& result : {truncated_svd(t, rank), randomized_svd(t, rank)}) {
        REQUIRE(result.u.shape() == Shape{50, rank});
        REQUIRE(result.vt.shape() == Shape{rank, 30});
        const Matrix approximation =
            matrix_of(result.u) * diagonal(values_of(result.s), rank, rank) * matrix_of(result.vt);
        // The omitted values are a geometric series, so its norm is below twice its first.
        CHECK(size_of(a - approximation) <= 1.2 * std::pow(2, -static_cast<double>(rank)));
      }
    }
    CHECK(values_of(randomized_svd(t, 3).u) == values_of(randomized_svd(t, 3).u));
    CHECK_THROWS_WITH_AS(truncated_svd(t, 31),
                         "[truncated_svd] expected a rank from 0 to 30, got 31", ShapeError);
    CHECK_THROWS_AS(randomized_svd(t, 2, {.oversampling = -1}), ShapeError);
  });
}

TEST_CASE("qr, eigh and svd: the bits do not depend on the number of threads") {
  for (DType type : {DType::f32, DType::f64}) {
    const Tensor a = tensor_of(random_symmetric(450, 19), type, Device::cpu());
    set_thread_count(1);
    const auto all = [&] {
      std::vector<double> values = values_of(eigh(a).vectors);
      for (double v : values_of(svd(a).u)) values.push_back(v);
      for (double v : values_of(qr(a).q)) values.push_back(v);
      return values;
    };
    const std::vector<double> one = all();
    set_thread_count(3);
    CHECK(all() == one);
  }
  set_thread_count(0);
}
