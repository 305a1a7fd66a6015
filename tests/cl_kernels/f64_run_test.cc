// SPDX-License-Identifier: MIT
// Runs every kernel that takes f64.
#include <doctest/doctest.h>

#include "matrix/ops/copy.h"
#include "matrix/ops/create.h"
#include "matrix/ops/cumulative.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/index.h"
#include "matrix/ops/reduce.h"
#include "matrix/ops/sort.h"
#include "tests/cl_kernels/compare.h"

namespace kaiseki {
namespace {

using test::Results;

/// As test::compare(), if the device has f64.
void compare_f64(const std::function<Results(Device)>& compute) {
  if (test::opencl_or_null() && Device::opencl(0).holds(DType::f64)) test::compare(compute);
}

/// Numbers with more digits than f32 has. No device computes them.
Tensor wide_tensor(const Shape& shape, uint64_t seed, Device device) {
  Random random(seed);
  std::vector<double> values(static_cast<size_t>(shape.elements()));
  for (double& v : values) v = random.uniform() - 0.5 + random.uniform() * 0x1p-25;
  return Tensor::from(std::span<const double>(values), shape, device);
}

}  // namespace

TEST_CASE("kernels: f64 copies, fills, conversions and indices") {
  compare_f64([](Device device) -> Results {
    const Tensor x = wide_tensor({3, 5, 4}, 1, device), table = wide_tensor({4, 3}, 2, device);
    const int order[] = {2, 0, 1};
    const int32_t rows[] = {3, 0, 3}, columns[] = {1, 2, 0};
    const Tensor picked = Tensor::from(std::span<const int32_t>(rows), {3}, device);
    Tensor changed = table.clone(), part = changed.slice(0, 1, 2);
    fill(part, 0.1);
    put(changed, picked, wide_tensor({3, 3}, 3, device), 0);
    const Tensor place = Tensor::from(std::span<const int32_t>(columns), {1, 3}, device);
    const double edges[] = {-1.5, 300, 3e9, -1e300, NAN, INFINITY, 0};
    const Tensor edge = Tensor::from(std::span<const double>(edges), {7}, device);
    const Tensor integers = cast(edge, DType::i32), bytes = cast(edge, DType::u8),
                 flags = cast(edge, DType::boolean);
    return {x.permute(order).clone(),
            x.slice(1, 1, 2).clone(),
            changed,
            take(table, picked, 0),
            gather(table, place, 0),
            tril(table),
            cast(x, DType::f32),
            cast(cast(x, DType::f32), DType::f64),
            integers,
            bytes,
            flags,
            cast(integers, DType::f64),
            cast(bytes, DType::f64),
            cast(flags, DType::f64)};
  });
}

TEST_CASE("kernels: f64 products") {
  for (int transposed = 0; transposed < 4; ++transposed)
    compare_f64([&](Device device) -> Results {
      const bool trans_a = transposed & 1, trans_b = transposed & 2;
      const int64_t m = 7, n = 18, k = 5;
      const Tensor a = wide_tensor(trans_a ? Shape{2, k, m} : Shape{2, m, k}, 1, device);
      const Tensor b = wide_tensor(trans_b ? Shape{n, k} : Shape{k, n}, 2, device);
      Tensor c = wide_tensor({2, m, n + 1}, 3, device), view = c.slice(2, 1, n);
      gemm(a, b, view, {.transpose_a = trans_a, .transpose_b = trans_b, .alpha = 0.3, .beta = 0.7});
      return {c};
    });
}

TEST_CASE("kernels: f64 reductions, scans and positions") {
  compare_f64([](Device device) -> Results {
    const Tensor x = wide_tensor({2, 3, 70}, 1, device), y = wide_tensor({300, 2}, 2, device);
    Tensor out = wide_tensor({3}, 3, device);
    reduce_into(out, Reduction::sum, x, {0, 2}, 0.5f);
    const Tensor row = y.slice(1, 0, 1).contiguous().reshape({300});
    return {sum(x, {2}),
            mean(x, {1}),
            max(x, {2}),
            max(y, {0}),
            min(x, {2}),
            min(y, {0}),
            out,
            reduce(Reduction::sum_of_squares, x, {1}),
            reduce(Reduction::sum_of_squares, x, {2}),
            mean(wide_tensor({2, 8200}, 4, device), {1}),
            prod(x, {1}),
            any(x, {1}),
            all(x, {2}),
            argmax(x, 1),
            argmin(x, 2),
            cumsum(y, 0),
            cumprod(x, 1),
            cummax(y, 0),
            cummin(y, 0),
            searchsorted(cumsum(ones({9}, DType::f64, device), 0), row),
            searchsorted(cummax(row, 0), row, true)};
  });
}

}  // namespace kaiseki
