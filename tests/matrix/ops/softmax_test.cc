// SPDX-License-Identifier: MIT
#include "matrix/ops/softmax.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"

using namespace kaiseki;
using namespace kaiseki::test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Calls row(first, step) for each row along the axis.
void for_each_row(const Shape& shape, int axis, const std::function<void(size_t, size_t)>& row) {
  int along = shape.index(axis);
  int64_t inner = 1;
  for (int i = along + 1; i < shape.rank(); ++i) inner *= shape[i];
  int64_t n = shape[along];
  for (int64_t o = 0; n && o < shape.elements() / n; ++o)
    row(static_cast<size_t>(o / inner * n * inner + o % inner), static_cast<size_t>(inner));
}

Doubles log_softmax_of(const Tensor& x, int axis) {
  Doubles v = doubles(x), result(v.size());
  auto n = static_cast<size_t>(x.dim(axis));
  for_each_row(x.shape(), axis, [&](size_t first, size_t step) {
    double largest = -kInfinity, sum = 0;
    for (size_t i = 0; i < n; ++i) largest = std::max(largest, v[first + i * step]);
    for (size_t i = 0; i < n; ++i) sum += std::exp(v[first + i * step] - largest);
    for (size_t i = 0; i < n; ++i)
      result[first + i * step] = v[first + i * step] - largest - std::log(sum);
  });
  return result;
}

Doubles exp_of(Doubles v) {
  for (double& x : v) x = std::exp(x);
  return v;
}

const std::pair<Shape, int> kCases[] = {
    {{1}, 0},        {{7}, -1},       {{5, 10}, 1},      {{3, 1000}, 1}, {{3, 4099}, -1},
    {{4, 5, 6}, 1},  {{2, 3, 37}, 1}, {{6, 5}, 0},       {{0, 5}, 1},    {{5, 0}, 1},
    {{2, 17, 1}, 1}, {{1, 1}, 1},     {{2, 19, 3, 7}, 1}};

}  // namespace

TEST_CASE("softmax: values along any axis") {
  for_each_device([](Device device) {
    for (const auto& one : kCases) {
      const Shape& shape = one.first;
      int axis = one.second;
      INFO(shape.str() << " axis " << axis);
      Tensor x = random_tensor(shape, 1, device, -20, 20);
      Doubles expected = log_softmax_of(x, axis);
      // exp of a difference d has an error of 4 units, and of |d| * 6e-8 if d was rounded.
      check_close(softmax(x, axis), exp_of(expected), 3e-6);
      check_close(log_softmax(x, axis), expected, 3e-7, 1e-6);
    }
  });
}

TEST_CASE("softmax: large, equal and infinite input") {
  for_each_device([](Device device) {
    Tensor x =
        Tensor::from({1e30f, 1e30f, -1e30f, 1e38f, -1e38f, 0, 1000, 1001, 1002}, {3, 3}, device);
    check_close(softmax(x), exp_of(log_softmax_of(x, 1)), 1e-6);
    check_close(log_softmax(x), log_softmax_of(x, 1), 1e-6);
    Tensor masked = Tensor::from({-kInfinity, 0, 0, -kInfinity, -kInfinity, 5}, {2, 3}, device);
    check_close(softmax(masked), {0, 0.5, 0.5, 0, 0, 1}, 1e-6);
    check_close(log_softmax(masked),
                {-kInfinity, std::log(0.5), std::log(0.5), -kInfinity, -kInfinity, 0}, 1e-6);
    Tensor nothing = Tensor::full({1, 3}, -kInfinity, device);
    check_close(softmax(nothing), Doubles(3, std::nan("")), 0);
  });
}

TEST_CASE("softmax: gradients") {
  for_each_device([](Device device) {
    for (const auto& one : kCases) {
      const Shape& shape = one.first;
      int axis = one.second;
      INFO(shape.str() << " axis " << axis);
      Tensor x = random_tensor(shape, 2, device, -3, 3), dy = random_tensor(shape, 3, device);
      Doubles log_y = log_softmax_of(x, axis), y = exp_of(log_y), g = doubles(dy);
      Doubles dx(y.size()), log_dx(y.size());
      int along = axis;
      auto n = static_cast<size_t>(shape[along]);
      for_each_row(shape, axis, [&](size_t first, size_t step) {
        double dot = 0, sum = 0;
        for (size_t i = 0; i < n; ++i) {
          dot += y[first + i * step] * g[first + i * step];
          sum += g[first + i * step];
        }
        for (size_t i = 0; i < n; ++i) {
          size_t at = first + i * step;
          dx[at] = y[at] * (g[at] - dot);
          log_dx[at] = g[at] - y[at] * sum;
        }
      });
      check_close(softmax_backward(softmax(x, axis), dy, axis), dx, 2e-6, 1e-6);
      check_close(log_softmax_backward(log_softmax(x, axis), dy, axis), log_dx, 2e-6, 1e-6);
    }
  });
}

TEST_CASE("cross-entropy: losses, probabilities and gradient; -1 is ignored") {
  for_each_device([](Device device) {
    for (Shape shape : {Shape{1, 1}, Shape{5, 10}, Shape{64, 10}, Shape{33, 1000}, Shape{0, 3}}) {
      INFO(shape.str());
      int64_t rows = shape[0], classes = shape[1];
      Tensor x = random_tensor(shape, 4, device, -9, 9);
      std::vector<int32_t> label(static_cast<size_t>(rows));
      for (int64_t i = 0; i < rows; ++i)
        label[i] = i % 5 == 4 ? -1 : static_cast<int32_t>(i * 7 % classes);
      Tensor labels = Tensor::from(std::span<const int32_t>(label), {rows}, device);
      Doubles log_p = log_softmax_of(x, 1), losses, gradient = exp_of(log_p);
      for (int64_t i = 0; i < rows; ++i) {
        losses.push_back(label[i] < 0 ? 0 : -log_p[i * classes + label[i]]);
        if (label[i] >= 0) gradient[i * classes + label[i]] -= 1;
        for (int64_t j = 0; j < classes; ++j) gradient[i * classes + j] *= label[i] < 0 ? 0 : 0.25;
      }
      CrossEntropy result = softmax_cross_entropy(x, labels);
      check_close(result.probabilities, exp_of(log_p), 3e-6);
      check_close(result.losses, losses, 1e-6, 1e-6);
      check_close(softmax_cross_entropy_backward(result.probabilities, labels, 0.25f), gradient,
                  3e-6, 1e-7);
    }
    Tensor sure = Tensor::from({1000, -1000, 0}, {1, 3}, device);
    std::vector<int32_t> second{1};
    Tensor label = Tensor::from(std::span<const int32_t>(second), {1}, device);
    check_close(softmax_cross_entropy(sure, label).losses, {2000}, 1e-6);
  });
}

TEST_CASE("cross-entropy: bad labels are errors") {
  for_each_device([](Device device) {
    Tensor x = random_tensor({2, 3}, 5, device);
    for (int32_t bad : {3, -2, 1 << 30}) {
      std::vector<int32_t> values{0, bad};
      Tensor labels = Tensor::from(std::span<const int32_t>(values), {2}, device);
      CHECK_THROWS_AS(softmax_cross_entropy(x, labels), ShapeError);
    }
    CHECK_THROWS_AS(softmax_cross_entropy(x, Tensor({3}, DType::i32, device)), ShapeError);
    CHECK_THROWS_AS(softmax_cross_entropy(x, Tensor({2}, DType::f32, device)), ShapeError);
    CHECK_THROWS_AS(
        softmax_cross_entropy(Tensor({3}, DType::f32, device), Tensor({3}, DType::i32, device)),
        ShapeError);
    CHECK_THROWS_AS(softmax(x, 2), ShapeError);
  });
}
