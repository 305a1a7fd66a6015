// SPDX-License-Identifier: MIT
// tests/matrix/ops/numpy_test.cc compares more shapes and types with NumPy's results.
#include "matrix/ops/index.h"

#include <cmath>

#include "base/error.h"
#include "matrix/ops/arrange.h"
#include "matrix/ops/create.h"
#include "matrix/ops/reduce.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

Tensor indices(std::vector<int32_t> values, Device device) {
  return Tensor::from(std::span<const int32_t>(values), {static_cast<int64_t>(values.size())},
                      device);
}

}  // namespace

TEST_CASE("take: elements of every type, as raw bits") {
  for_each_device([](Device device) {
    std::vector<int32_t> integers = {1, -2, 3, 1 << 30, 5, 0x7fc00001};  // the last is a NaN as f32
    Tensor x = Tensor::from(std::span<const int32_t>(integers), {6}, device);
    CHECK(take(x, indices({5, 3, -5}, device), 0).to_vector<int32_t>() ==
          std::vector<int32_t>{0x7fc00001, 1 << 30, -2});
    Tensor flags = Tensor::zeros({2, 2}, DType::boolean, device);
    CHECK(take(flags, indices({1}, device), 0).shape() == Shape{1, 2});
    CHECK(take(Tensor({3, 0}, DType::f32, device), indices({1}, device), 0).shape() == Shape{1, 0});
    CHECK(take(x, indices({}, device), 0).shape() == Shape{0});
  });
}

TEST_CASE("take, put, gather, scatter, masks, nonzero: f64") {
  for_each_device([](Device device) {
    if (!device.holds(DType::f64)) return;
    const double values[] = {0.1, -0.0, 1e-300, std::nan("")};
    Tensor x = Tensor::from(std::span<const double>(values), {4}, device);
    const Tensor places = indices({2, 0}, device);
    const std::vector<double> taken = {1e-300, 0.1};
    CHECK(take(x, places, 0).to_vector<double>() == taken);
    CHECK(gather(x, places, 0).to_vector<double>() == taken);
    CHECK(nonzero(x).to_vector<int32_t>() == std::vector<int32_t>{0, 2, 3});
    const bool flags[] = {true, false, true, false};
    const Tensor mask = Tensor::from(std::span<const bool>(flags), {4}, device);
    CHECK(masked_select(x, mask).to_vector<double>() == std::vector<double>{0.1, 1e-300});
    put(x, places, Tensor::from(std::span<const double>(taken), {2}, device).clone(), 0);
    CHECK(take(x, indices({0, 2}, device), 0).to_vector<double>() ==
          std::vector<double>{0.1, 1e-300});
    scatter(x, places, full_like(x, 0.7).slice(0, 0, 1), 0);
    CHECK(take(x, places, 0).to_vector<double>() == std::vector<double>{0.7, 0.7});
    CHECK_THROWS_WITH_AS(add_at(x, places, full_like(places, 1), 0),
                         "[add_at] expected values of type f64, got i32", ShapeError);
    CHECK_THROWS_WITH_AS(scatter_add(x, places, x.slice(0, 0, 2), 0),
                         "[scatter_add] expected x of type f32 or i32, got f64", ShapeError);
  });
}

TEST_CASE("add_at, put: many rows, in the order of the indices") {
  for_each_device([](Device device) {
    const int64_t n = 37, width = 301, count = 1000;
    Tensor x = random_tensor({n, width}, 1, device),
           values = random_tensor({count, width}, 2, device);
    std::vector<int32_t> rows;
    for (int64_t i = 0; i < count; ++i) rows.push_back(static_cast<int32_t>(i * 7919 % n));
    const Tensor index = indices(rows, device);
    Doubles sums = doubles(x), last = sums, added = doubles(values);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t j = 0; j < width; ++j) {
        sums[rows[i] * width + j] += added[i * width + j];
        last[rows[i] * width + j] = added[i * width + j];
      }
    Tensor target = x.clone();
    add_at(target, index, values, 0);
    // 27 additions of numbers below 1 to a sum below 28, in f32.
    check_close(target, sums, 1e-5, 1e-5);
    put(x, index, values, 0);
    check_close(x, last, 0);
  });
}

TEST_CASE("add_at: integers wrap, and the number of threads changes nothing") {
  for_each_device([](Device device) {
    Tensor x = Tensor::zeros({3}, DType::i32, device);
    const Tensor largest = indices({2147483647, 2147483647, 5}, device);
    add_at(x, indices({1, 1, 0}, device), largest, 0);
    CHECK(x.to_vector<int32_t>() == std::vector<int32_t>{5, -2, 0});
  });
  auto run = [] {
    Tensor x = Tensor::zeros({11, 997});
    std::vector<int32_t> rows(300);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int32_t>(i * i % 11);
    add_at(x, indices(rows, Device::cpu()), random_tensor({300, 997}, 4), 0);
    return x.to_vector();
  };
  set_thread_count(1);
  const auto one = run();
  set_thread_count(3);
  CHECK(run() == one);
  set_thread_count(0);
}

TEST_CASE("put, scatter, masked_put: views of any strides, and values of the same storage") {
  for_each_device([](Device device) {
    Tensor x = arange(12, DType::f32, device).reshape({3, 4});
    Tensor turned = x.transpose(), reversed = flip(x);
    put(turned, indices({0}, device), Tensor::from({-1}, {1}, device), 0);
    CHECK(x.to_vector() == std::vector<float>{-1, 1, 2, 3, -1, 5, 6, 7, -1, 9, 10, 11});
    put(x, indices({0, 1, 2}, device), reversed, 0);
    CHECK(x.to_vector() == std::vector<float>{11, 10, 9, -1, 7, 6, 5, -1, 3, 2, 1, -1});
    const bool flags[] = {true, false, true, false};
    const Tensor mask = Tensor::from(std::span<const bool>(flags), {4}, device);
    Tensor columns = x.transpose();
    masked_put(columns, mask, Tensor::from({0}, {1}, device));
    CHECK(x.to_vector() == std::vector<float>{0, 10, 0, -1, 0, 6, 0, -1, 0, 2, 0, -1});
    CHECK(masked_select(columns, mask).shape() == Shape{2, 3});
  });
}

TEST_CASE("indices: an index out of range, and wrong shapes and types, are errors") {
  for_each_device([](Device device) {
    Tensor x = Tensor::zeros({3, 2}, DType::f32, device),
           y = Tensor::zeros({1, 2}, DType::f32, device);
    CHECK_THROWS_WITH_AS(take(x, indices({0, 3}, device), 0),
                         "[take] expected indices from -3 to 2, got 3 at position 1", ShapeError);
    CHECK_THROWS_AS(take(x, indices({-4}, device), 0), ShapeError);
    CHECK_THROWS_AS(put(x, indices({3}, device), y, 0), ShapeError);
    CHECK_THROWS_AS(add_at(x, indices({3}, device), y, 0), ShapeError);
    CHECK_THROWS_AS(take(x, indices({0}, device), 2), ShapeError);
    CHECK_THROWS_AS(take(x, y, 0), ShapeError);
    CHECK_THROWS_AS(gather(x, indices({0}, device), 0), ShapeError);
    CHECK_THROWS_AS(put(x, indices({0}, device), Tensor({3}, DType::f32, device), 0), ShapeError);
    CHECK_THROWS_AS(put(x, indices({0}, device), Tensor({1, 2}, DType::i32, device), 0),
                    ShapeError);
    Tensor bytes = Tensor::zeros({3}, DType::u8, device);
    CHECK_THROWS_AS(add_at(bytes, indices({0}, device), bytes.slice(0, 0, 1), 0), ShapeError);
    CHECK_THROWS_AS(masked_select(x, bytes), ShapeError);
    CHECK_THROWS_AS(masked_select(x, Tensor({2}, DType::boolean, device)), ShapeError);
    CHECK_THROWS_AS(take(Tensor(), indices({0}, device), 0), ShapeError);
    CHECK_THROWS_AS(nonzero(Tensor({}, DType::f32, device)), ShapeError);
  });
}

TEST_CASE("indices: a device skips an index out of range that only it knows") {
  for_each_device([](Device device) {
    if (device.is_cpu()) return;
    const Tensor far = argmax(Tensor::from({0, 0, 9}, {1, 3}, device), 1);  // {2}
    Tensor x = Tensor::full({2, 3}, 1, device);
    CHECK(take(x, far, 0).to_vector() == std::vector<float>{0, 0, 0});
    const Tensor again = argmax(Tensor::from({0, 0, 9}, {1, 3}, device), 1);
    put(x, again, Tensor::full({1, 3}, 5, device), 0);
    CHECK(x.to_vector() == std::vector<float>(6, 1));
  });
}
