// SPDX-License-Identifier: MIT
// tests/matrix/ops/numpy_test.cc compares more expressions with NumPy's results.
#include "matrix/ops/einsum.h"

#include "base/error.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("einsum: larger products, transposed operands, and axes without elements") {
  for_each_device([](Device device) {
    const Tensor a = random_tensor({37, 64}, 1, device), b = random_tensor({51, 64}, 2, device);
    const Tensor both[] = {a, b};
    const Doubles x = doubles(a), y = doubles(b);
    Doubles expected;
    for (int64_t j = 0; j < 51; ++j)
      for (int64_t i = 0; i < 37; ++i) {
        double total = 0;
        for (int64_t k = 0; k < 64; ++k) total += x[i * 64 + k] * y[j * 64 + k];
        expected.push_back(total);
      }
    // Sums of 64 products below 1 in f32.
    check_close(einsum("ik, jk -> ji", both), expected, 1e-5, 1e-5);
    const Tensor empty[] = {Tensor({3, 0}, DType::f32, device), Tensor({0, 2}, DType::f32, device)};
    check_close(einsum("ij,jk", empty), Doubles(6), 0);
    check_close(tensordot(a, b, {1}, {-1}).transpose().contiguous(), expected, 1e-5, 1e-5);
    const Tensor square[] = {a};
    CHECK(!einsum("ij", square).shares_storage_with(a));
  });
}

TEST_CASE("einsum: wrong texts and tensors are errors") {
  const Tensor a({2, 3}), b({3, 4});
  const Tensor both[] = {a, b}, one[] = {a};
  CHECK_THROWS_WITH_AS(einsum("i.,jk", both),
                       "[einsum] expected letters, ..., commas and one ->, got '.' in 'i.,jk'",
                       Error);
  CHECK_THROWS_WITH_AS(einsum("i..., k...->ik", both),
                       "[einsum] expected ... in the result of 'i..., k...->ik'", Error);
  CHECK_THROWS_AS(einsum("......", one), Error);
  CHECK_THROWS_AS(einsum("i->......", one), Error);
  CHECK_THROWS_WITH_AS(einsum("i...,k...", both),
                       "[einsum] expected length 3 of axis -1 of ... in 'i...,k...', got 4",
                       ShapeError);
  CHECK_THROWS_WITH_AS(einsum("ijk...", one),
                       "[einsum] expected rank 3 or more for an operand of 'ijk...', got [2, 3]",
                       ShapeError);
  CHECK_THROWS_AS(einsum("ij,jk->il", both), Error);
  CHECK_THROWS_AS(einsum("ij,jk->ii", both), Error);
  CHECK_THROWS_AS(einsum("ij->i->j", one), Error);
  CHECK_THROWS_AS(einsum("ij", both), ShapeError);
  CHECK_THROWS_AS(einsum("ij,ik", both), ShapeError);
  CHECK_THROWS_AS(einsum("i,jk", both), ShapeError);
  CHECK_THROWS_AS(einsum("ii", one), ShapeError);
  CHECK_THROWS_AS(tensordot(a, b, 3), ShapeError);
  CHECK_THROWS_AS(tensordot(a, b, {0, 0}, {0, 0}), ShapeError);
  CHECK_THROWS_AS(tensordot(a, b, {0}, {0, 1}), ShapeError);
}
