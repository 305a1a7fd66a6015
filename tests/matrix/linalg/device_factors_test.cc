// SPDX-License-Identifier: MIT
// Factorizations on a device. Small matrices call the blocked forms directly.
#include "matrix/linalg/device_factors.h"

#include <limits>

#include "matrix/linalg/cholesky.h"
#include "matrix/linalg/error.h"
#include "matrix/linalg/lu.h"
#include "matrix/linalg/qr.h"
#include "matrix/linalg/solve.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/create.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/index.h"
#include "tests/support/matrices.h"

using namespace kaiseki;
using namespace kaiseki::linalg;
using namespace kaiseki::test;

namespace {

// A block has 128 columns, one of QR 64.
constexpr std::pair<int64_t, int64_t> kBlocked[] = {{1, 1},     {2, 2},     {63, 65},   {127, 127},
                                                    {128, 128}, {129, 129}, {257, 131}, {131, 257}};

/// LAPACK's tests accept residuals up to 30 n times the precision.
double residual_bound(int64_t n) {
  return 4 * precision_of(DType::f32) * static_cast<double>(n + 8);
}

Matrix positive_definite(int64_t n) {
  const Matrix a = random_matrix(n, n, 5);
  Matrix s = a * transposed(a);
  for (int64_t i = 0; i < n; ++i) s(i, i) += static_cast<double>(n);
  return s;
}

/// Well conditioned, and large enough for the device.
Tensor large_matrix(Device device) {
  constexpr int64_t n = kDeviceSize + 137;  // Cholesky's products then have two blocks of columns
  Matrix a = random_matrix(n, n, 8);
  for (int64_t i = 0; i < n; ++i) a(i, i) += 200;
  return tensor_of(a, DType::f32, device);
}

void for_each_opencl_device(const std::function<void(Device)>& body) {
  for_each_device([&](Device device) {
    if (!device.is_cpu()) body(device);
  });
}

}  // namespace

TEST_CASE("lu on a device: P A = L U, and the solution of a system") {
  for_each_opencl_device([](Device device) {
    for (const auto& shape : kBlocked) {
      const int64_t m = shape.first, n = shape.second, k = std::min(m, n);
      CAPTURE(m);
      CAPTURE(n);
      const Matrix a = random_matrix(m, n, 1);
      const DeviceLu lu = lu_on_device(tensor_of(a, DType::f32, device));
      CHECK(lu.packed.device() == device);
      Matrix exchanged = a;
      REQUIRE(lu.pivots.swapped.size() == static_cast<size_t>(k));
      for (int64_t i = 0; i < k; ++i)
        for (int64_t j = 0; j < n; ++j)
          std::swap(exchanged(i, j), exchanged(lu.pivots.swapped[static_cast<size_t>(i)], j));
      Matrix l = matrix_of(tril(lu.packed.slice(1, 0, k), -1));
      for (int64_t i = 0; i < k; ++i) l(i, i) = 1;
      CHECK(largest_of(l) == 1);
      const Matrix u = matrix_of(triu(lu.packed.slice(0, 0, k)));
      CHECK(size_of(l * u - exchanged) <= residual_bound(std::max(m, n)) * size_of(a));
      if (m != n) continue;
      for (int64_t sides : {1, 7}) {
        const Matrix b = random_matrix(n, sides, 2);
        const Matrix x = matrix_of(solve_on_device(lu, tensor_of(b, DType::f32, device)));
        CHECK(size_of(a * x - b) <= residual_bound(n) * size_of(a) * size_of(x));
      }
    }
  });
}

TEST_CASE("lu on a device: the first zero pivot, in any block") {
  for_each_opencl_device([](Device device) {
    for (int64_t column : {0, 100, 128, 199}) {
      Matrix a = random_matrix(200, 200, 3);
      for (int64_t i = 0; i < a.rows; ++i) a(i, column) = 0;
      CHECK(lu_on_device(tensor_of(a, DType::f32, device)).pivots.zero == column);
    }
  });
}

TEST_CASE("cholesky on a device: A = L L^T, or the first pivot that is not positive") {
  for_each_opencl_device([](Device device) {
    for (int64_t n : {1, 2, 127, 128, 129, 300}) {
      CAPTURE(n);
      Matrix a = positive_definite(n);
      const DeviceCholesky result = cholesky_on_device(tensor_of(a, DType::f32, device));
      REQUIRE(!result.failed);
      const Matrix l = matrix_of(result.l);
      CHECK(size_of(l * transposed(l) - a) <= residual_bound(n) * size_of(a));
      int64_t wrong = 0;
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = i + 1; j < n; ++j) wrong += l(i, j) != 0;
      CHECK(wrong == 0);
      a(n - 1, n - 1) = -1;
      const auto failed = cholesky_on_device(tensor_of(a, DType::f32, device)).failed;
      REQUIRE(failed);
      CHECK(failed->column == n - 1);
      CHECK(failed->value < 0);
    }
  });
}

TEST_CASE("qr on a device: A = Q R, thin and full") {
  for_each_opencl_device([](Device device) {
    for (const auto& shape : kBlocked)
      for (int64_t k : {std::min(shape.first, shape.second), shape.first}) {
        const int64_t m = shape.first, n = shape.second;
        CAPTURE(m);
        CAPTURE(n);
        const Matrix a = random_matrix(m, n, 4);
        const DeviceQr result = qr_on_device(tensor_of(a, DType::f32, device), k);
        CHECK(result.q.device() == device);
        const Matrix q = matrix_of(result.q), r = matrix_of(result.r);
        CHECK(q.columns == k);
        CHECK(orthogonality(q) <= residual_bound(m) * std::sqrt(static_cast<double>(q.columns)));
        CHECK(size_of(q * r - a) <= residual_bound(m) * size_of(a));
        int64_t wrong = 0;
        for (int64_t i = 0; i < r.rows; ++i)
          for (int64_t j = 0; j < std::min(i, n); ++j) wrong += r(i, j) != 0;
        CHECK(wrong == 0);
      }
  });
}

TEST_CASE("solve, inv, lu, slogdet, cholesky and qr of a large matrix stay on the device") {
  if (KAISEKI_SLOW) return;
  for_each_opencl_device([](Device device) {  // checks that nothing falls back to the CPU
    const Tensor a = large_matrix(device);
    const int64_t n = a.dim(0);
    const auto agree = [&](const Tensor& product, const Tensor& expected) {
      CHECK(product.device() == device);
      const Matrix want = matrix_of(expected);
      CHECK(size_of(matrix_of(product) - want) <= residual_bound(n) * size_of(want));
    };
    const Tensor b = tensor_of(random_matrix(n, 3, 9), DType::f32, device);
    agree(matmul(a, solve(a, b)), b);
    CHECK(solve(a, b.slice(1, 0, 0)).shape() == Shape{n, 0});
    agree(matmul(a, inv(a)), eye(n, DType::f32, device));
    const LuResult factors = lu(a);
    agree(matmul(factors.l, factors.u), take(a, factors.permutation, 0));
    const SlogdetResult there = slogdet(a), here = slogdet(a.to(Device::cpu()));
    CHECK(there.sign.item() == here.sign.item());
    CHECK(there.log.item() == doctest::Approx(here.log.item()).epsilon(1e-5));
    const Tensor squares = matmul(a, a, false, true);
    const Tensor l = cholesky(squares);
    agree(matmul(l, l, false, true), squares);
    const QrResult orthogonal = qr(a);
    agree(matmul(orthogonal.q, orthogonal.r), a);
  });
}

TEST_CASE("a large matrix on a device: NaN, a zero pivot and a negative pivot are errors") {
  if (KAISEKI_SLOW) return;
  for_each_opencl_device([](Device device) {
    Tensor a = large_matrix(device);
    const Tensor b = a.slice(1, 0, 1);
    Tensor column = a.slice(1, 700, 1);
    copy_into(column, Tensor::zeros(column.shape(), DType::f32, device));
    CHECK_THROWS_WITH_AS(solve(a, b),
                         "[solve] expected an invertible matrix, got a pivot of 0 in column 700",
                         LinearAlgebraError);
    CHECK(det(a).item() == 0);
    CHECK_THROWS_AS(cholesky(a), LinearAlgebraError);
    copy_into(column,
              Tensor::full(column.shape(), std::numeric_limits<float>::quiet_NaN(), device));
    for (const auto& run : std::initializer_list<std::function<void()>>{
             [&] { solve(a, b); }, [&] { inv(a); }, [&] { lu(a); }, [&] { det(a); },
             [&] { cholesky(a); }, [&] { qr(a); }})
      CHECK_THROWS_WITH_AS(run(), doctest::Contains("expected finite elements"),
                           LinearAlgebraError);
    CHECK_THROWS_AS(solve(large_matrix(device), column), LinearAlgebraError);
  });
}
