// SPDX-License-Identifier: MIT
// tests/matrix/ops/numpy_test.cc compares the elements of views with NumPy's.
#include "matrix/slice.h"

#include <limits>
#include <sstream>

#include "base/error.h"
#include "matrix/ops/arrange.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/create.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/print.h"
#include "matrix/ops/reduce.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

TEST_CASE("slice: a view shares the storage, and keeps it alive") {
  for_each_device([](Device device) {
    Tensor view;
    {
      Tensor x = Tensor::from({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {3, 4}, device);
      view = x(Slice(0, 3, 2), -1);
      CHECK(view.shares_storage_with(x));
      Tensor column = x(All, 3);
      copy_into(column, Tensor::full({3}, -1, device));
    }
    CHECK(view.to_vector() == std::vector<float>{-1, -1});
  });
}

TEST_CASE("slice: new axes, missing indices, and steps of any size") {
  const Tensor x = random_tensor({4, 5, 6}, 1);
  CHECK(x(NewAxis, 1, All, NewAxis).shape() == Shape{1, 5, 1, 6});
  CHECK(x(Slice(1, 3)).shape() == Shape{2, 5, 6});
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
  CHECK(x(Slice({}, {}, kHighest)).shape() == Shape{1, 5, 6});
  CHECK(x(Slice({}, {}, kLowest)).shape() == Shape{1, 5, 6});
  CHECK(x(Slice(kLowest, kHighest)).shape() == x.shape());
  CHECK(x(Slice(kHighest, kLowest, -1)).shape() == x.shape());
  CHECK(x(Slice(3, 3), All, 0).shape() == Shape{0, 5});
}

TEST_CASE("slice: wrong indices are errors") {
  const Tensor x({4, 5});
  CHECK_THROWS_WITH_AS(x(All, 5), "[slice] expected an index from -5 to 4 along axis 1, got 5",
                       ShapeError);
  CHECK_THROWS_AS(x(-5, All), ShapeError);
  CHECK_THROWS_AS(x(All, All, 0), ShapeError);
  CHECK_THROWS_AS(x(Slice({}, {}, 0)), ShapeError);
  CHECK_THROWS_AS(Tensor({1, 1, 1, 1, 1, 1, 1, 1})(NewAxis), ShapeError);
  CHECK_THROWS_AS(Tensor({0, 2})(0, All), ShapeError);
}

TEST_CASE("slice: operations read and write views with negative strides") {
  for_each_device([](Device device) {
    for (const Shape& shape : {Shape{7, 5}, Shape{64, 129}, Shape{1, 3}}) {
      INFO(shape.str());
      const Tensor x = random_tensor(shape, 3, device);
      const Doubles values = doubles(x);
      const int64_t rows = shape[0], columns = shape[1];
      Doubles flipped, turned;
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
          flipped.push_back(values[(rows - 1 - i) * columns + columns - 1 - j]);
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < rows; ++i) turned.push_back(values[(rows - 1 - i) * columns + j]);
      check_close(flip(x).clone(), flipped, 0);
      check_close(flip(x, {0}).transpose().contiguous(), turned, 0);
      Tensor target = Tensor::zeros(shape, DType::f32, device), view = flip(target);
      copy_into(view, x);
      check_close(target, flipped, 0);
      Doubles sums = values;
      for (size_t i = 0; i < sums.size(); ++i)
        sums[i] = static_cast<float>(values[i]) + static_cast<float>(flipped[i]);
      check_close(x + flip(x), sums, 0);
      Tensor own = x.clone(), reversed = flip(own);
      copy_into(reversed, own);  // within one storage
      check_close(own, flipped, 0);
      // Sums of up to 8256 numbers below 1 in another order.
      check_close(sum(flip(x)), doubles(sum(x)), 1e-4, 1e-3);
    }
  });
}

TEST_CASE("slice: operators on views with negative strides, of integers and bytes") {
  for_each_device([](Device device) {
    const Tensor x = arange(35, DType::i32, device).reshape({5, 7});
    const Tensor sums = x + flip(x);
    CHECK(sums.to_vector<int32_t>() == std::vector<int32_t>(35, 34));
    Tensor target = x.clone(), view = flip(target);
    view += x;
    CHECK(target.to_vector<int32_t>() == std::vector<int32_t>(35, 34));
    const Tensor bytes = arange(9, DType::u8, device), first = flip(bytes)(Slice({}, {}, 2));
    CHECK(first(1) == 6);
    const Tensor doubled = first + first;
    CHECK(doubles(doubled) == Doubles{16, 12, 8, 4, 0});
    std::ostringstream text;
    text << first;
    CHECK(text.str() == "[8 6 4 2 0]");
  });
}

TEST_CASE("slice: gemm() refuses rows in descending order, and matmul() copies them") {
  const Tensor a = random_tensor({3, 4}, 1), b = random_tensor({4, 2}, 2);
  Tensor c = Tensor::zeros({3, 2});
  CHECK_THROWS_AS(gemm(flip(a, {0}), b, c), ShapeError);
  CHECK_THROWS_AS(gemm(flip(a, {1}), b, c), ShapeError);
  for (const Tensor& view :
       {flip(a, {0}), flip(a, {1}), flip(a), flip(random_tensor({2, 3, 4}, 1), {0})})
    CHECK(matmul(view, b).to_vector() == matmul(view.contiguous(), b).to_vector());
}
