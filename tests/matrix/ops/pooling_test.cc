// SPDX-License-Identifier: MIT
// Pooling against plain loops in double, on every device.
#include "matrix/ops/pooling.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

namespace kaiseki {
namespace {

struct Case {
  Shape x;
  Pooling2d pooling;
  Shape y;  // as PyTorch 1.13 gives it
};

const Case kCases[] = {
    {{2, 3, 24, 24}, {}, {2, 3, 12, 12}},
    {{2, 5, 8, 8}, {}, {2, 5, 4, 4}},
    {{1, 2, 64, 66}, {}, {1, 2, 32, 33}},
    {{3, 1, 7, 9}, {}, {3, 1, 3, 4}},
    {{1, 1, 2, 2}, {}, {1, 1, 1, 1}},
    {{1, 2, 7, 9}, {.ceil_mode = true}, {1, 2, 4, 5}},
    {{2, 3, 13, 13}, {.window = {3, 3}, .stride = {2, 2}}, {2, 3, 6, 6}},
    {{2, 3, 12, 14}, {.window = {3, 3}, .stride = {2, 2}, .ceil_mode = true}, {2, 3, 6, 7}},
    {{1, 2, 14, 14}, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}, {1, 2, 7, 7}},
    {{1, 2, 15, 10}, {.window = {3, 3}, .stride = {1, 1}, .padding = {1, 1}}, {1, 2, 15, 10}},
    {{1, 2, 5, 5}, {.window = {2, 2}, .stride = {2, 2}, .padding = {1, 1}}, {1, 2, 3, 3}},
    {{2, 1, 11, 17}, {.window = {2, 3}, .stride = {3, 1}, .padding = {1, 0}}, {2, 1, 4, 15}},
    {{1, 4, 6, 5}, {.window = {6, 5}, .stride = {1, 1}}, {1, 4, 1, 1}},
    {{1, 1, 1, 1}, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}, {1, 1, 1, 1}},
    {{1, 1, 5, 6}, {.window = {2, 2}, .stride = {3, 4}, .ceil_mode = true}, {1, 1, 2, 2}},
    {{2, 3, 55, 55}, {.window = {3, 3}, .stride = {2, 2}}, {2, 3, 27, 27}},
    {{1, 2, 28, 29}, {.window = {3, 3}, .stride = {1, 1}, .padding = {1, 1}}, {1, 2, 28, 29}},
    {{1, 2, 9, 46}, {.window = {3, 4}, .stride = {2, 2}, .padding = {1, 2}}, {1, 2, 5, 24}},
    {{1, 2, 9, 40},
     {.window = {5, 5}, .stride = {3, 2}, .padding = {2, 1}, .ceil_mode = true},
     {1, 2, 4, 20}},
    {{1, 1, 4, 4}, {.window = {3, 3}, .stride = {1, 1 << 22}}, {1, 1, 2, 1}},
    {{0, 3, 8, 8}, {}, {0, 3, 4, 4}},
};

struct PoolingReference {
  test::Doubles maximum, average, max_dx, average_dx;
  std::vector<int32_t> indices;
};

PoolingReference pooling_reference(const Case& c, bool count_padding, const test::Doubles& x,
                                   const test::Doubles& dy) {
  PoolingReference out;
  out.max_dx = out.average_dx = test::Doubles(x.size());
  const int64_t h = c.x[2], w = c.x[3];
  const Pooling2d& p = c.pooling;
  size_t at = 0;
  for (int64_t plane = 0; plane < c.x[0] * c.x[1]; ++plane)
    for (int64_t i = 0; i < c.y[2]; ++i)
      for (int64_t j = 0; j < c.y[3]; ++j, ++at) {
        double best = -std::numeric_limits<double>::infinity(), sum = 0;
        int64_t place = -1, inside = 0, counted = 0;
        for (int64_t row = i * p.stride[0] - p.padding[0], r = 0; r < p.window[0]; ++r, ++row)
          for (int64_t column = j * p.stride[1] - p.padding[1], s = 0; s < p.window[1];
               ++s, ++column) {
            counted += row < h + p.padding[0] && column < w + p.padding[1];
            if (row < 0 || row >= h || column < 0 || column >= w) continue;
            ++inside;
            const double v = x[static_cast<size_t>(plane * h * w + row * w + column)];
            sum += v;
            if (place < 0 || v > best || (std::isnan(v) && !std::isnan(best)))
              best = v, place = row * w + column;
          }
        out.maximum.push_back(best);
        out.indices.push_back(static_cast<int32_t>(place));
        const double count = static_cast<double>(count_padding ? counted : inside);
        out.average.push_back(sum / count);
        out.max_dx[static_cast<size_t>(plane * h * w + place)] += dy[at];
        for (int64_t row = i * p.stride[0] - p.padding[0], r = 0; r < p.window[0]; ++r, ++row)
          for (int64_t column = j * p.stride[1] - p.padding[1], s = 0; s < p.window[1];
               ++s, ++column)
            if (row >= 0 && row < h && column >= 0 && column < w)
              out.average_dx[static_cast<size_t>(plane * h * w + row * w + column)] +=
                  dy[at] / count;
      }
  return out;
}

/// A few different values, so that maxima tie. The first one is the maximum.
Tensor tied(const Shape& shape, Device device) {
  Tensor t = test::random_tensor(shape, 5, Device::cpu(), 0, 4);
  float* values = t.mutable_data<float>();
  for (int64_t i = 0; i < t.size(); ++i) values[i] = std::floor(values[i]);
  return t.to(device);
}

/// NaNs, infinities (mostly negative, in whole windows) and a few numbers that tie.
Tensor with_extremes(const Shape& shape, uint64_t seed) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Tensor kinds = test::random_tensor(shape, seed, Device::cpu(), 0, 8);
  float* values = kinds.mutable_data<float>();
  for (int64_t i = 0; i < kinds.size(); ++i) {
    const float v = std::floor(values[i]);
    values[i] = v == 0 ? std::nanf("") : v == 1 ? kInfinity : v < 5 ? -kInfinity : v - 6;
  }
  return kinds;
}

}  // namespace

TEST_CASE("max pooling and its gradient") {
  test::for_each_device([](Device device) {
    for (const Case& c : kCases)
      for (bool ties : {false, true}) {
        INFO(c.x.str(), " to ", c.y.str());
        REQUIRE(pooling2d_shape(c.x, c.pooling) == c.y);
        const Tensor x = ties ? tied(c.x, device) : test::random_tensor(c.x, 1, device);
        const Tensor dy = test::random_tensor(c.y, 2, device);
        const auto expected = pooling_reference(c, false, test::doubles(x), test::doubles(dy));
        Tensor y(c.y, DType::f32, device), indices(c.y, DType::i32, device);
        max_pool2d_into(y, indices, x, c.pooling);
        test::check_close(y, expected.maximum, 0);
        CHECK(indices.to_vector<int32_t>() == expected.indices);
        Tensor dx = Tensor::full(c.x, 7, device);
        max_pool2d_backward_into(dx, dy, indices, c.pooling);
        test::check_close(dx, expected.max_dx, 1e-6, 1e-6);  // at most 9 float additions
      }
  });
}

TEST_CASE("pooling rows of any length around the vector length") {
  int cases = 0;
  for (int64_t width : {4, 5, 7, 8, 9, 11, 15, 16, 17, 18, 19, 31, 32, 33, 34, 35, 37, 67})
    for (std::array<int64_t, 3> column : {std::array<int64_t, 3>{1, 1, 0},
                                          {1, 2, 0},
                                          {2, 1, 1},
                                          {2, 2, 1},
                                          {3, 1, 0},
                                          {3, 1, 1},
                                          {3, 2, 0},
                                          {3, 2, 1},
                                          {4, 2, 2},
                                          {4, 1, 2}})
      for (bool ceil_mode : {false, true}) {
        Case c{{1, 3, 5, width}, {}, {}};
        c.pooling = {{3, column[0]}, {2, column[1]}, {1, column[2]}, ceil_mode, ceil_mode};
        c.y = pooling2d_shape(c.x, c.pooling);
        INFO(c.x.str(), " to ", c.y.str(), ", window ", column[0], ", stride ", column[1]);
        Tensor x = test::random_tensor(c.x, 3);
        const Tensor dy = test::random_tensor(c.y, 4);
        auto expected = pooling_reference(c, ceil_mode, test::doubles(x), test::doubles(dy));
        Tensor y(c.y), dx = Tensor::full(c.x, 7), indices(c.y, DType::i32);
        average_pool2d_into(y, x, c.pooling);
        test::check_close(y, expected.average, 1e-6, 1e-6);  // at most 12 float additions
        average_pool2d_backward_into(dx, dy, c.pooling);
        test::check_close(dx, expected.average_dx, 1e-6, 1e-6);

        x = with_extremes(c.x, static_cast<uint64_t>(++cases));
        expected = pooling_reference(c, false, test::doubles(x), test::doubles(dy));
        max_pool2d_into(y, indices, x, c.pooling);
        test::check_close(y, expected.maximum, 0);
        CHECK(indices.to_vector<int32_t>() == expected.indices);
        max_pool2d_backward_into(dx, dy, indices, c.pooling);
        test::check_close(dx, expected.max_dx, 1e-6, 1e-6);
      }
}

TEST_CASE("average pooling and its gradient") {
  test::for_each_device([](Device device) {
    for (const Case& c : kCases)
      for (bool count_padding : {false, true}) {
        INFO(c.x.str(), " to ", c.y.str());
        Pooling2d pooling = c.pooling;
        pooling.count_padding = count_padding;
        const Tensor x = test::random_tensor(c.x, 1, device),
                     dy = test::random_tensor(c.y, 2, device);
        const auto expected =
            pooling_reference(c, count_padding, test::doubles(x), test::doubles(dy));
        Tensor y(c.y, DType::f32, device), dx = Tensor::full(c.x, 7, device);
        average_pool2d_into(y, x, pooling);
        test::check_close(y, expected.average, 1e-6, 2e-6);  // at most 30 float additions
        average_pool2d_backward_into(dx, dy, pooling);
        test::check_close(dx, expected.average_dx, 1e-6, 2e-6);
      }
  });
}

TEST_CASE("a NaN is the maximum; padding and minus infinity never are") {
  test::for_each_device([](Device device) {
    const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
    for (int64_t width : {2, 6, 34, 70})
      for (int64_t place = 0; place < 2 * width; ++place) {
        Tensor x = Tensor::full({1, 1, 2, width}, 1, Device::cpu());
        x.mutable_data<float>()[place] = nan;
        if (place < width)
          x.mutable_data<float>()[width + place / 2 * 2 + 1] = nan;  // the first is the maximum
        Tensor y({1, 1, 1, width / 2}, DType::f32, device), indices(y.shape(), DType::i32, device);
        max_pool2d_into(y, indices, x.to(device), {});
        const auto window = static_cast<size_t>(place % width / 2);
        CHECK(std::isnan(y.to_vector()[window]));
        CHECK(indices.to_vector<int32_t>()[window] == place);
      }
    const Tensor x = Tensor::full({1, 1, 3, 3}, -infinity, device);
    Tensor y({1, 1, 2, 2}, DType::f32, device), indices({1, 1, 2, 2}, DType::i32, device);
    max_pool2d_into(y, indices, x, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
    CHECK(y.to_vector() == std::vector<float>(4, -infinity));
    CHECK(indices.to_vector<int32_t>() == std::vector<int32_t>{0, 1, 3, 4});
  });
}

TEST_CASE("pooling gives the same bits with any number of threads") {
  const Shape shape{16, 8, 40, 41};
  const Tensor x = test::random_tensor(shape, 1);
  const Pooling2d pooling{.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};
  std::vector<float> first;
  for (int threads : {1, 2, 3}) {
    set_thread_count(threads);
    Tensor y(pooling2d_shape(shape, pooling)), indices(y.shape(), DType::i32), dx(shape);
    max_pool2d_into(y, indices, x, pooling);
    max_pool2d_backward_into(dx, y, indices, pooling);
    if (first.empty()) first = dx.to_vector();
    CHECK(first == dx.to_vector());
  }
  set_thread_count(0);
}

TEST_CASE("pooling's gradient ignores indices of another plane") {
  test::for_each_device([](Device device) {
    std::vector<int32_t> places = {0, 18, -1, 15};
    const Tensor indices = Tensor::from(std::span<const int32_t>(places), {1, 1, 2, 2}, device);
    const Tensor dy = Tensor::from({1, 2, 3, 4}, {1, 1, 2, 2}, device);
    Tensor whole = Tensor::full({64}, 7, device), dx = whole.slice(0, 0, 16).reshape({1, 1, 4, 4});
    max_pool2d_backward_into(dx, dy, indices, {});
    test::Doubles expected(64, 7);
    std::fill_n(expected.begin(), 16, 0);
    expected[0] = 1;
    expected[15] = 4;
    test::check_close(whole, expected, 0);
  });
}

TEST_CASE("pooling refuses outputs that overlap inputs") {
  Tensor all({64}), x = all.slice(0, 0, 16).reshape({1, 1, 4, 4}),
                    y = all.slice(0, 15, 4).reshape({1, 1, 2, 2}), other({1, 1, 2, 2});
  Tensor indices(y.shape(), DType::i32);
  CHECK_THROWS_AS(max_pool2d_into(y, indices, x, {}), ShapeError);
  CHECK_THROWS_AS(average_pool2d_into(y, x, {}), ShapeError);
  CHECK_THROWS_AS(average_pool2d_backward_into(x, y, {}), ShapeError);
  average_pool2d_into(other, x, {});
}

TEST_CASE("pooling refuses arguments that do not match") {
  const auto error_of = [](const Shape& x, const Pooling2d& pooling) -> std::string {
    try {
      pooling2d_shape(x, pooling);
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "no error";
  };
  CHECK(error_of({2, 3, 4}, {}) == "[pool2d] expected an input [n, c, h, w], got [2, 3, 4]");
  CHECK(error_of({1, 1, 4, 4}, {.window = {0, 2}}) ==
        "[pool2d] expected a window of at least 1, got 0");
  CHECK(error_of({1, 1, 4, 4}, {.padding = {2, 0}}) ==
        "[pool2d] expected a padding of at most half the window 2, got 2");
  CHECK(error_of({1, 1, 1, 4}, {}) ==
        "[pool2d] expected an input with its padding of at least the window 2x2, got [1, 1, 1, 4]");
  const Tensor x({1, 1, 4, 4});
  Tensor y({1, 1, 2, 3}), indices({1, 1, 2, 2}, DType::i32);
  CHECK_THROWS_WITH_AS(max_pool2d_into(y, indices, x, {}),
                       "[max_pool2d] expected an output of shape [1, 1, 2, 2], got [1, 1, 2, 3]",
                       ShapeError);
}

}  // namespace kaiseki
