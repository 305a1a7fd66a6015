// SPDX-License-Identifier: MIT
#include "matrix/tensor.h"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>

#include "base/error.h"

namespace kaiseki {
namespace {

Tensor counting(const Shape& shape) {
  Tensor t(shape);
  std::iota(t.overwrite<float>(), t.overwrite<float>() + t.size(), 0.0f);
  return t;
}

}  // namespace

TEST_CASE("a tensor holds the values it is created from") {
  Tensor t = Tensor::from({1, 2, 3, 4, 5, 6}, {2, 3});
  CHECK(t.shape() == Shape{2, 3});
  CHECK(t.data<float>()[4] == 5);
  CHECK(t.bytes() == 24);
  CHECK_THROWS_AS(Tensor::from({1, 2}, {3}), ShapeError);
  CHECK_THROWS_WITH_AS(t.data<int32_t>(), "[tensor] expected elements of type i32, got f32",
                       ShapeError);
  CHECK_THROWS_AS(t.item(), ShapeError);
  CHECK(Tensor::full({1}, 7).item() == 7);
  CHECK(Tensor::zeros({3}, DType::u8).to_vector<uint8_t>() == std::vector<uint8_t>{0, 0, 0});
}

TEST_CASE("f64: a tensor holds every double") {
  for_each_device([](Device device) {
    if (!device.holds(DType::f64)) return;
    const std::vector<double> values{1e300,
                                     -0.1,
                                     std::numeric_limits<double>::denorm_min(),
                                     -std::numeric_limits<double>::infinity(),
                                     0,
                                     1.0 / 3};
    const Tensor t = Tensor::from(std::span<const double>(values), {2, 3}, device);
    CHECK(t.bytes() == 48);
    CHECK(dtype_name(t.dtype()) == "f64");
    CHECK(t.to_vector<double>() == values);
    CHECK(t.clone().to_vector<double>() == values);
    CHECK(t.transpose().contiguous().to_vector<double>() ==
          std::vector<double>{values[0], values[3], values[1], values[4], values[2], values[5]});
    CHECK(t.to(device).shares_storage_with(t));
    CHECK(t.to(Device::cpu()).to_vector<double>() == values);
    CHECK(t.slice(0, 0, 1).slice(1, 1, 1).item<double>() == -0.1);
    CHECK_THROWS_WITH_AS(t.slice(0, 0, 1).slice(1, 1, 1).item(),
                         "[tensor] expected elements of type f32, got f64", ShapeError);
    CHECK_THROWS_AS(t.item<double>(), ShapeError);
    CHECK(Tensor::zeros({2}, DType::f64, device).to_vector<double>() == std::vector<double>{0, 0});
    CHECK(Tensor({0}, DType::f64, device).to_vector<double>().empty());
    CHECK(Tensor::zeros({4}, DType::f64, device).reinterpret(DType::f32).size() == 8);
  });
}

TEST_CASE("copies share storage, clones do not") {
  Tensor a = counting({4}), b = a, c = a.clone();
  b.mutable_data<float>()[0] = 9;
  CHECK(a.data<float>()[0] == 9);
  CHECK(c.data<float>()[0] == 0);
}

TEST_CASE("views share storage and outlive their tensor") {
  Tensor column;
  {
    Tensor t = counting({3, 4});
    column = t.slice(1, 2, 1);
    CHECK(column.shares_storage_with(t));
  }
  CHECK_FALSE(column.is_contiguous());
  CHECK(column.to_vector() == std::vector<float>{2, 6, 10});
  CHECK_THROWS_AS(column.data<float>(), ShapeError);
  CHECK_THROWS_AS(column.reshape({3}), ShapeError);
  CHECK_THROWS_AS(column.slice(0, 2, 2), ShapeError);
}

TEST_CASE("permuted, transposed and broadcast views have their own order of elements") {
  Tensor t = counting({2, 3});
  CHECK(t.transpose().to_vector() == std::vector<float>{0, 3, 1, 4, 2, 5});
  int axes[] = {2, 0, 1};
  CHECK(counting({2, 2, 2}).permute(axes).to_vector() ==
        std::vector<float>{0, 2, 4, 6, 1, 3, 5, 7});
  CHECK(counting({3, 1}).broadcast_to({3, 2}).to_vector() == std::vector<float>{0, 0, 1, 1, 2, 2});
  CHECK_THROWS_AS(t.broadcast_to({2, 4}), ShapeError);
  CHECK_THROWS_AS(t.broadcast_to({3}), ShapeError);
  CHECK(t.reshape({3, -1}).shape() == Shape{3, 2});
  CHECK_THROWS_AS(t.reshape({4, -1}), ShapeError);
  CHECK(counting({0, 3}).transpose().to_vector().empty());
}

TEST_CASE("writing every element of a view leaves the rest of its storage unchanged") {
  Tensor t = counting({2, 3});
  Tensor row = t.slice(0, 1, 1);
  std::fill_n(row.overwrite<float>(), 3, -1.0f);
  CHECK(t.to_vector() == std::vector<float>{0, 1, 2, -1, -1, -1});
}

TEST_CASE("shapes too large for any memory are refused without overflow") {
  const int64_t big = int64_t{1} << 40;
  CHECK_THROWS_AS(Tensor({3, big, big}), ShapeError);
  CHECK_THROWS_AS(Tensor({int64_t{1} << 31, int64_t{1} << 31}), ShapeError);
  Tensor x({6});
  CHECK_THROWS_AS(x.reshape({-1, big, big}), ShapeError);
  CHECK_THROWS_AS(x.reshape({-1, 0}), ShapeError);
  CHECK(x.reshape({-1, 2}).shape() == Shape{3, 2});
}

}  // namespace kaiseki
