// SPDX-License-Identifier: MIT
// Convolution with pooling in one pass against the two operations, on every device.
#include "matrix/ops/conv_pooling.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "matrix/conv/select.h"
#include "matrix/memory/allocator.h"
#include "matrix/ops/copy.h"
#include "matrix/threads.h"
#include "tests/support/devices.h"
#include "tests/support/reference.h"
#include "tests/support/tune_policy.h"

namespace kaiseki {
namespace {

struct Case {
  Shape x, filter;
  Conv2d conv;
  Pooling2d pooling;
};

const Case kCases[] = {
    {{4, 3, 20, 18}, {20, 3, 5, 5}, {}, {}},
    {{2, 16, 13, 15}, {48, 16, 3, 3}, {.padding = {1, 1}}, {.window = {3, 3}, .ceil_mode = true}},
    {{3, 6, 9, 11}, {8, 3, 2, 3}, {.stride = {2, 1}, .groups = 2}, {.padding = {1, 1}}},
    {{1, 8, 6, 6}, {8, 8, 1, 1}, {}, {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}},
    {{0, 3, 8, 8}, {2, 3, 3, 3}, {}, {}},
};

}  // namespace

TEST_CASE("conv2d_max_pool: the same bits as conv2d and max_pool2d, and their gradients") {
  test::WithTunePolicy policy({TuneMode::off});
  test::for_each_device([](Device device) {
    for (const Case& c : kCases) {
      INFO(c.x.str(), " by ", c.filter.str());
      const Tensor x = test::random_tensor(c.x, 1, device),
                   filter = test::random_tensor(c.filter, 2, device),
                   bias = test::random_tensor({c.filter[0]}, 3, device);
      const ConvProblem p = conv_problem(c.x, c.filter, c.conv);
      const Shape whole{p.n, p.k, p.out_h(), p.out_w()}, shape = pooling2d_shape(whole, c.pooling);
      Tensor between(whole, DType::f32, device), expected(shape, DType::f32, device),
          places(shape, DType::i32, device), y(shape, DType::f32, device),
          indices(shape, DType::i32, device);
      for (Activation activation : {Activation::none, Activation::relu}) {
        conv2d_into(between, x, filter, c.conv, {.bias = &bias, .activation = activation});
        max_pool2d_into(expected, places, between, c.pooling);
        conv2d_max_pool({.x = x,
                         .filter = filter,
                         .bias = &bias,
                         .conv = c.conv,
                         .pooling = c.pooling,
                         .y = y,
                         .indices = &indices,
                         .activation = activation});
        CHECK(y.to_vector() == expected.to_vector());
        CHECK(indices.to_vector<int32_t>() == places.to_vector<int32_t>());
        fill(y, 7);
        conv2d_max_pool({.x = x,
                         .filter = filter,
                         .bias = &bias,
                         .conv = c.conv,
                         .pooling = c.pooling,
                         .y = y,
                         .activation = activation});
        CHECK(y.to_vector() == expected.to_vector());
      }
      const Tensor dy = test::random_tensor(shape, 4, device);
      Tensor dfilter = test::random_tensor(c.filter, 5, device), sums = dfilter.clone(),
             dx(c.x, DType::f32, device), made;
      max_pool2d_backward_into(between, dy, indices, c.pooling);
      conv2d_backward_filter_into(sums, x, between, c.conv, 1);
      conv2d_backward_data_into(dx, between, filter, c.conv);
      conv2d_max_pool_backward({.x = x,
                                .filter = filter,
                                .dy = dy,
                                .indices = indices,
                                .conv = c.conv,
                                .pooling = c.pooling,
                                .dfilter = dfilter,
                                .beta = 1,
                                .dx = &made});
      CHECK(dfilter.to_vector() == sums.to_vector());
      CHECK(made.to_vector() == dx.to_vector());
      conv2d_max_pool_backward({.x = x,
                                .filter = filter,
                                .dy = dy,
                                .indices = indices,
                                .conv = c.conv,
                                .pooling = c.pooling,
                                .dfilter = dfilter});
      conv2d_backward_filter_into(sums, x, between, c.conv);
      CHECK(dfilter.to_vector() == sums.to_vector());
    }
  });
}

TEST_CASE("conv2d_max_pool: on the CPU, the whole output of the convolution is never in memory") {
  test::WithTunePolicy policy({TuneMode::off});
  set_thread_count(2);
  const Device device = Device::cpu();
  const Tensor x = test::random_tensor({16, 16, 32, 32}, 1, device),
               filter = test::random_tensor({32, 16, 3, 3}, 2, device);
  const Conv2d conv{.padding = {1, 1}};
  Tensor y({16, 32, 16, 16}, DType::f32, device), indices(y.shape(), DType::i32, device);
  Tensor dfilter(filter.shape(), DType::f32, device), dx(x.shape(), DType::f32, device);
  const auto step = [&] {
    conv2d_max_pool({.x = x, .filter = filter, .conv = conv, .y = y, .indices = &indices});
    conv2d_max_pool_backward({.x = x,
                              .filter = filter,
                              .dy = y,
                              .indices = indices,
                              .conv = conv,
                              .dfilter = dfilter,
                              .dx = &dx});
  };
  step();  // uses workspace
  Allocator& memory = device.memory();
  memory.trim();
  memory.reset_peak();
  const uint64_t before = memory.account().peak;
  step();
  CHECK(memory.account().peak - before < y.bytes());
  set_thread_count(0);
}

TEST_CASE("conv2d_max_pool: empty outputs are created") {
  test::WithTunePolicy policy({TuneMode::off});
  set_thread_count(2);
  test::for_each_device([](Device device) {
    const Allocator& memory = device.memory();
    const Tensor filter = test::random_tensor({8, 4, 3, 3}, 2, device);
    for (int64_t images : {1, 4}) {  // two threads cannot share one image, so it is not pooled
      const Tensor x = test::random_tensor({images, 4, 18, 18}, 1, device);
      Tensor expected({images, 8, 8, 8}, DType::f32, device), y, indices,
          places(expected.shape(), DType::i32, device);
      conv2d_max_pool({.x = x, .filter = filter, .y = expected, .indices = &places});
      x.buffer().on_device(Access::read), filter.buffer().on_device(Access::read);
      const uint64_t before = memory.account().in_use;
      uint64_t during = 0;
      observe_convolutions(
          [&](Backend&, const ConvProblem&) { during = memory.account().in_use - before; });
      conv2d_max_pool({.x = x, .filter = filter, .y = y, .indices = &indices});
      observe_convolutions({});
      const bool fuses_pooling = device.is_cpu() && images > 1;
      CHECK(during == (fuses_pooling ? 2 : 6) * expected.bytes());
      CHECK(y.to_vector() == expected.to_vector());
      CHECK(indices.to_vector<int32_t>() == places.to_vector<int32_t>());
    }
    const Tensor none({0, 4, 18, 18}, DType::f32, device);
    Tensor y;
    conv2d_max_pool({.x = none, .filter = filter, .y = y});
    CHECK(y.shape() == Shape{0, 8, 8, 8});
  });
  set_thread_count(0);
}

TEST_CASE("conv2d_max_pool: arguments that do not match are refused") {
  const Tensor x = Tensor::zeros({1, 2, 6, 6}, DType::f32, Device::cpu()),
               filter = Tensor::zeros({3, 2, 3, 3}, DType::f32, Device::cpu());
  Tensor y({1, 3, 2, 2}, DType::f32, Device::cpu()), wrong({1, 3, 2, 1}, DType::f32, Device::cpu());
  Tensor indices(y.shape(), DType::i32, Device::cpu());
  Tensor dfilter = filter.clone();
  CHECK_THROWS_AS(conv2d_max_pool({.x = x, .filter = filter, .y = wrong}), ShapeError);
  CHECK_THROWS_AS(conv2d_max_pool({.x = x, .filter = filter, .y = y, .indices = &y}), ShapeError);
  CHECK_THROWS_AS(
      conv2d_max_pool({.x = x, .filter = filter, .y = y, .activation = Activation::tanh}),
      ShapeError);
  CHECK_THROWS_AS(
      conv2d_max_pool_backward(
          {.x = x, .filter = filter, .dy = wrong, .indices = indices, .dfilter = dfilter}),
      ShapeError);
  CHECK_THROWS_AS(conv2d_max_pool_backward(
                      {.x = x, .filter = filter, .dy = y, .indices = y, .dfilter = dfilter}),
                  ShapeError);
}

}  // namespace kaiseki
