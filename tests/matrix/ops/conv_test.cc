// SPDX-License-Identifier: MIT
// The front ends of convolution: they choose a solver, accept views, and reject wrong arguments.
#include "matrix/ops/conv.h"

#include <doctest/doctest.h>

#include <string>

#include "base/error.h"
#include "matrix/ops/copy.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/reduce.h"
#include "tests/matrix/conv/cases.h"
#include "tests/matrix/conv/reference.h"
#include "tests/support/devices.h"

namespace kaiseki {
namespace {

template <typename F>
std::string error_of(const F& call) {
  try {
    call();
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("convolution agrees with plain loops in all directions") {
  test::for_each_device([](Device device) {
    for (const ConvProblem& p : test::conv_cases()) {
      INFO(p.str());
      const Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, device);
      const Tensor filter = test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 2, device);
      const Tensor dy = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, device);
      const auto expected =
          test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(dy));
      CHECK(conv_problem(x.shape(), filter.shape(), test::conv2d_of(p)) == p);
      Tensor y(dy.shape(), DType::f32, device), dx(x.shape(), DType::f32, device);
      Tensor dfilter(filter.shape(), DType::f32, device);
      conv2d_into(y, x, filter, test::conv2d_of(p));
      test::check_sums(y, expected.y, expected.y_size, true);
      conv2d_backward_data_into(dx, dy, filter, test::conv2d_of(p));
      test::check_sums(dx, expected.dx, expected.dx_size, true);
      conv2d_backward_filter_into(dfilter, x, dy, test::conv2d_of(p));
      test::check_sums(dfilter, expected.dfilter, expected.dfilter_size);
    }
  });
}

TEST_CASE("convolution accepts views as inputs") {
  test::for_each_device([](Device device) {
    const ConvProblem p{ConvDirection::forward, 3, 7, 13, 17, 11, 3, 3, {1, 1}, {1, 1}};
    const int swap[] = {0, 1, 3, 2};
    const Tensor x = test::random_tensor({p.n, p.c, p.w, p.h}, 1, device).permute(swap);
    const Tensor filter = test::random_tensor({p.k + 2, p.c, p.r, p.s}, 2, device).slice(0, 1, p.k);
    const Tensor dy =
        test::random_tensor({p.n, p.k, p.out_w(), p.out_h()}, 3, device).permute(swap);
    const Tensor bias =
        test::random_tensor({p.k, 2}, 4, device).slice(1, 1, 1).clone().reshape({p.k});
    const auto expected =
        test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(dy));
    Tensor y(dy.shape(), DType::f32, device), dx(x.shape(), DType::f32, device);
    conv2d_into(y, x, filter, test::conv2d_of(p));
    test::check_sums(y, expected.y, expected.y_size, true);
    conv2d_backward_data_into(dx, dy, filter, test::conv2d_of(p));
    test::check_sums(dx, expected.dx, expected.dx_size, true);
  });
}

TEST_CASE("convolution of an empty batch") {
  test::for_each_device([](Device device) {
    const Tensor x({0, 3, 8, 8}, DType::f32, device);
    const Tensor filter = Tensor::full({4, 3, 3, 3}, 1, device);
    Tensor y({0, 4, 6, 6}, DType::f32, device), dx({0, 3, 8, 8}, DType::f32, device);
    conv2d_into(y, x, filter, {});
    conv2d_backward_data_into(dx, y, filter, {});
    Tensor dfilter = Tensor::full({4, 3, 3, 3}, 2, device);
    conv2d_backward_filter_into(dfilter, x, y, {}, 0.5f);
    CHECK(dfilter.to_vector() == std::vector<float>(108, 1.0f));
    conv2d_backward_filter_into(dfilter, x, y, {});
    CHECK(dfilter.to_vector() == std::vector<float>(108, 0.0f));
  });
}

TEST_CASE("with direct sums, a NaN in the input affects exactly the outputs that read it") {
  const int64_t size = 9;
  for (int64_t place = 0; place < size * size; ++place) {
    Tensor x = Tensor::full({1, 1, size, size}, 1), filter = Tensor::full({1, 1, 3, 3}, 1);
    x.mutable_data<float>()[place] = std::nanf("");
    Tensor y({1, 1, size, size});
    conv2d_into(y, x, filter, {.padding = {1, 1}}, {.activation = Activation::relu});
    const std::vector<float> values = y.to_vector();
    for (int64_t i = 0; i < size * size; ++i) {
      const bool near =
          std::abs(i / size - place / size) <= 1 && std::abs(i % size - place % size) <= 1;
      CHECK(std::isnan(values[static_cast<size_t>(i)]) == near);
    }
  }
}

TEST_CASE("convolution refuses outputs that overlap inputs") {
  Tensor all({2 * 36 + 6}), x = all.slice(0, 0, 36).reshape({1, 1, 6, 6}),
                            y = all.slice(0, 36, 36).reshape({1, 1, 6, 6}),
                            near = all.slice(0, 35, 36).reshape({1, 1, 6, 6});
  Tensor filter = Tensor::zeros({1, 1, 1, 1}), inside = y.reshape({36}).slice(0, 3, 1);
  conv2d_into(y, x, filter, {});
  CHECK_THROWS_AS(conv2d_into(x, x, filter, {}), ShapeError);
  CHECK_THROWS_AS(conv2d_into(near, x, filter, {}), ShapeError);
  CHECK_THROWS_AS(conv2d_into(y, x, filter, {}, {.bias = &inside}), ShapeError);
  CHECK_THROWS_AS(conv2d_backward_data_into(near, x, filter, {}), ShapeError);
  Tensor one = x.reshape({36}).slice(0, 1, 1).reshape({1, 1, 1, 1});
  CHECK_THROWS_AS(conv2d_backward_filter_into(one, x, y, {}), ShapeError);
}

TEST_CASE("convolution with taps far away in the padding") {
  test::for_each_device([](Device device) {
    const int64_t far = int64_t{1} << 24;
    const Conv2d conv{.padding = {far, far}, .dilation = {far, far}};
    const Tensor x = Tensor::full({1, 64, 1, 1}, 2, device),
                 filter = test::random_tensor({2, 64, 3, 3}, 1, device);
    Tensor y({1, 2, 1, 1}, DType::f32, device), dx(x.shape(), DType::f32, device),
        dfilter(filter.shape(), DType::f32, device);
    conv2d_into(y, x, filter, conv);
    const Tensor middle = filter.slice(2, 1, 1).slice(3, 1, 1).contiguous();
    test::check_close(y, test::doubles(sum(middle * x, {1})), 1e-5, 1e-5);
    conv2d_backward_data_into(dx, y, filter, conv);
    const Tensor outer = middle * y.reshape({2, 1, 1, 1});
    test::check_close(dx, test::doubles(sum(outer, {0})), 1e-5, 1e-5);
    conv2d_backward_filter_into(dfilter, x, y, conv);
    const std::vector<float> result = y.to_vector(), gradient = dfilter.to_vector();
    for (size_t i = 0; i < gradient.size(); ++i)
      CHECK(gradient[i] == (i % 9 == 4 ? 2 * result[i / 576] : 0));
  });
}

TEST_CASE("convolution refuses arguments that do not match") {
  const Tensor x({2, 4, 8, 8}), filter({6, 4, 3, 3}), bias({5});
  Tensor y({2, 6, 6, 6}), wrong({2, 6, 6, 5});
  const auto forward = [&](const Tensor& input, const Tensor& weights, Conv2d conv, Tensor& out) {
    return error_of([&] { conv2d_into(out, input, weights, conv); });
  };
  CHECK(forward(x, filter, {}, y) == "no error");
  CHECK(forward(x, filter, {}, wrong) ==
        "[conv2d] expected an output of shape [2, 6, 6, 6], got [2, 6, 6, 5]");
  CHECK(forward(x.reshape({2, 4, 64}), filter, {}, y) ==
        "[conv2d] expected an input [n, c, h, w], got [2, 4, 64]");
  CHECK(forward(x, Tensor({6, 3, 3, 3}), {}, y) ==
        "[conv2d] expected 3 input channels for filter [6, 3, 3, 3] in 1 groups, got input [2, 4, "
        "8, 8]");
  CHECK(
      forward(x, filter, {.groups = 3}, y) ==
      "[conv2d] expected channels divisible by 3 groups, got input [2, 4, 8, 8] and filter [6, 4, "
      "3, 3]");
  CHECK(forward(x, filter, {.stride = {0, 1}}, y) ==
        "[conv2d] expected a stride from 1 to 536870912, got 0");
  const int64_t huge = int64_t{1} << 62;
  CHECK(forward(x, Tensor({6, 4, 5, 5}), {.dilation = {huge, huge}}, y) ==
        "[conv2d] expected a dilation from 1 to 536870912, got 4611686018427387904");
  CHECK(forward(x, filter, {.padding = {0, huge}}, y) ==
        "[conv2d] expected a padding from 0 to 536870912, got 4611686018427387904");
  CHECK(
      forward(x, filter, {.dilation = {4, 1}}, y) ==
      "[conv2d] expected an input with its padding of at least the filter's 9x3, got [2, 4, 8, 8] "
      "with 0x0 of padding");
  CHECK(forward(Tensor({2, 4, 8, 8}, DType::i32), filter, {}, y) ==
        "[conv2d] expected the input of type f32, got i32");
  CHECK(error_of([&] { conv2d_into(y, x, filter, {}, {.bias = &bias}); }) ==
        "[conv2d] expected a bias of shape [6], got [5]");
  Tensor dx({2, 4, 8, 8}), dfilter({6, 4, 3, 3}), none({2, 4, 8, 0}), of_none({2, 6, 10, 2});
  const Conv2d wide{.padding = {2, 2}};
  const std::string empty = "expected an input's side from 1 to 536870912, got 0";
  CHECK(forward(none, filter, wide, of_none) == "[conv2d] " + empty);
  CHECK(error_of([&] { conv2d_backward_data_into(none, of_none, filter, wide); }) ==
        "[conv2d_backward_data] " + empty);
  CHECK(error_of([&] { conv2d_backward_filter_into(dfilter, none, of_none, wide); }) ==
        "[conv2d_backward_filter] " + empty);
  CHECK(error_of([&] { conv2d_backward_data_into(dx, wrong, filter, {}); }) ==
        "[conv2d_backward_data] expected an output's gradient of shape [2, 6, 6, 6], got [2, 6, 6, "
        "5]");
  CHECK(error_of([&] { conv2d_backward_filter_into(dfilter, x, wrong, {}); }) ==
        "[conv2d_backward_filter] expected an output's gradient of shape [2, 6, 6, 6], got [2, 6, "
        "6, 5]");
}

}  // namespace kaiseki
