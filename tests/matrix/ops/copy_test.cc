// SPDX-License-Identifier: MIT
#include "matrix/ops/copy.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "matrix/ops/create.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

/// The elements of a view, computed from its strides over the whole storage.
Doubles elements(const Doubles& storage, const Tensor& view) {
  Doubles result;
  for_each_index(view.shape(), [&](const Shape& index) {
    int64_t position = view.offset();
    for (int i = 0; i < view.rank(); ++i) position += index[i] * view.strides()[i];
    result.push_back(storage[position]);
  });
  return result;
}

}  // namespace

TEST_CASE("copy: any view to contiguous") {
  for_each_device([](Device device) {
    for (const Shape& shape : {Shape{3, 5, 7}, Shape{64, 48, 3}, Shape{2, 300, 257}, Shape{1, 1, 1},
                               Shape{0, 4, 2}, Shape{33, 1, 65}}) {
      Tensor x = random_tensor(shape, 1, device);
      Doubles storage = doubles(x);
      int order[] = {0, 1, 2};
      do {
        INFO(shape.str() << " order " << order[0] << order[1] << order[2]);
        Tensor view = x.permute(order);
        check_close(view.clone(), elements(storage, view), 0);
        if (view.dim(2) > 2) {
          Tensor part = view.slice(2, 1, view.dim(2) - 2);
          check_close(part.clone(), elements(storage, part), 0);
        }
      } while (std::next_permutation(order, order + 3));
    }
    Tensor row = random_tensor({1, 70}, 2, device);
    Tensor wide = row.broadcast_to({50, 70});
    check_close(wide.clone(), elements(doubles(row), wide), 0);
  });
}

TEST_CASE("copy: into views; the rest stays unchanged") {
  for_each_device([](Device device) {
    Tensor x = random_tensor({9, 11}, 3, device), target = Tensor::full({20, 30}, 7, device);
    Tensor place = target.slice(0, 4, 11).slice(1, 5, 9).transpose();
    copy_into(place, x);
    Doubles values = doubles(x), all = doubles(target);
    CHECK(elements(all, place) == values);
    CHECK(std::count(all.begin(), all.end(), 7.0) == 20 * 30 - 99);
    Tensor deep = random_tensor({2, 3, 2, 3, 2, 3, 2, 3}, 4, device);
    int back[] = {7, 6, 5, 4, 3, 2, 1, 0};
    Tensor view = deep.permute(back);
    check_close(view.clone(), elements(doubles(deep), view), 0);
  });
}

TEST_CASE("copy: within one storage, as if through another") {
  for_each_device([](Device device) {
    Tensor x = random_tensor({40, 40}, 8, device), down = x.slice(0, 3, 30);
    Doubles expected = doubles(x.slice(0, 0, 30));
    copy_into(down, x.slice(0, 0, 30));
    check_close(down, expected, 0);
    Doubles turned = doubles(x.transpose());
    Tensor whole = x;
    copy_into(whole, x.transpose());
    check_close(x, turned, 0);
  });
}

TEST_CASE("copy: every element type, and between devices") {
  for_each_device([](Device device) {
    std::vector<uint8_t> bytes(35 * 67);
    std::iota(bytes.begin(), bytes.end(), uint8_t{0});
    Tensor picture = Tensor::from(std::span<const uint8_t>(bytes), {35, 67}, device);
    Tensor turned = picture.transpose().clone().transpose().clone();
    CHECK(turned.to_vector<uint8_t>() == bytes);
    Tensor rows = arange(5, -1, -1, DType::i32, device).reshape({2, 3}).transpose().clone();
    CHECK(rows.to_vector<int32_t>() == std::vector<int32_t>{5, 2, 4, 1, 3, 0});
    Tensor x = random_tensor({40, 30}, 5, device);
    Tensor part = x.slice(1, 3, 20).transpose();
    check_close(part.to(Device::cpu()), elements(doubles(x), part), 0);
    Tensor host = part.to(Device::cpu());
    Tensor there({20, 40}, DType::f32, device);
    copy_into(there, host);
    check_close(there, doubles(host), 0);
    CHECK(x.slice(0, 7, 1).slice(1, 9, 1).item() == doubles(x)[7 * 30 + 9]);
  });
}

TEST_CASE("copy, fill: invalid calls are errors") {
  Tensor a({2, 3}), b({3, 2}), c({2, 3}, DType::i32), bytes({3}, DType::u8), none;
  CHECK_THROWS_AS(copy_into(b, a), ShapeError);
  CHECK_THROWS_AS(copy_into(c, a), ShapeError);
  CHECK_THROWS_AS(copy_into(a, none), ShapeError);
  CHECK_THROWS_AS(fill(bytes, 256), ShapeError);
  Tensor turned = a.transpose();
  CHECK_THROWS_AS(fill(turned, 1), ShapeError);
  Tensor one({1, 3}), repeated = one.broadcast_to({2, 3});
  CHECK_THROWS_AS(copy_into(repeated, a), ShapeError);
}

TEST_CASE("fill: whole tensors and parts of them") {
  for_each_device([](Device device) {
    Tensor x = Tensor::zeros({5, 7}, DType::f32, device), part = x.slice(0, 1, 2);
    fill(part, -1.5f);
    Doubles values = doubles(x);
    CHECK(std::count(values.begin(), values.end(), -1.5) == 14);
    CHECK(values[6] == 0);
    CHECK(values[7] == -1.5);
    Tensor integers = Tensor::zeros({300001}, DType::i32, device);
    fill(integers, 42);
    CHECK(integers.to_vector<int32_t>() == std::vector<int32_t>(300001, 42));
  });
}

TEST_CASE("concatenate: along every axis") {
  for_each_device([](Device device) {
    for (int axis = 0; axis < 3; ++axis) {
      std::vector<Tensor> parts;
      for (int64_t length : {3, 0, 1, 5}) {
        Shape shape{2, 3, 4};
        shape[axis] = length;
        parts.push_back(random_tensor(shape, 6 + static_cast<uint64_t>(length), device));
      }
      Tensor whole = concatenate(parts, axis - 3);
      CHECK(whole.dim(axis) == 9);
      int64_t start = 0;
      for (const Tensor& part : parts) {
        CHECK(doubles(whole.slice(axis, start, part.dim(axis))) == doubles(part));
        start += part.dim(axis);
      }
    }
    CHECK_THROWS_AS(concatenate({}, 0), ShapeError);
    const Tensor different[] = {Tensor({2, 3}), Tensor({2, 4})};
    CHECK_THROWS_WITH_AS(
        concatenate(different, 0),
        "[concatenate] expected shapes that differ only along axis 0, got [2, 3] and [2, 4]",
        ShapeError);
    const Tensor types[] = {Tensor({1}), Tensor({1}, DType::i32)};
    CHECK_THROWS_WITH_AS(concatenate(types, 0),
                         "[concatenate] expected tensors of one type, got f32 and i32", ShapeError);
  });
}

TEST_CASE("f64: copies of any strides, between devices, fills and concatenation") {
  for_each_device([](Device device) {
    if (!device.holds(DType::f64)) return;
    std::vector<double> values(41 * 67);
    for (size_t i = 0; i < values.size(); ++i) values[i] = 1 + static_cast<double>(i) * 0x1p-50;
    const Tensor x = Tensor::from(std::span<const double>(values), {41, 67}, device);
    CHECK(x.transpose().clone().transpose().clone().to_vector<double>() == values);
    const Tensor rows = x.slice(1, 3, 50), every_third = x(Slice({}, {}, 3), Slice({}, {}, -2));
    for (const Tensor& view : {rows, every_third, x.slice(0, 2, 0)}) {
      const Doubles expected = elements(values, view);
      CHECK(view.clone().to_vector<double>() == expected);
      CHECK(view.to(Device::cpu()).to_vector<double>() == expected);
    }
    Tensor t = Tensor::zeros({3, 5}, DType::f64, device), middle = t.slice(0, 1, 1);
    fill(middle, 0.1);
    CHECK(middle.to_vector<double>() == std::vector<double>(5, 0.1));
    CHECK(t(0, 4) == 0);
    const Tensor parts[] = {t.slice(1, 0, 2), t.slice(1, 4, 1)};
    CHECK(concatenate(parts, 1).to_vector<double>() ==
          std::vector<double>{0, 0, 0, 0.1, 0.1, 0.1, 0, 0, 0});
  });
}
