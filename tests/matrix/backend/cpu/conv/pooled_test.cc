// SPDX-License-Identifier: MIT
// Tests solvers that compute pooling in the same pass. They must give the bits of a convolution
// followed by pooling, in all directions, also for ties and NaNs.
#include "matrix/backend/cpu/conv/pooled.h"

#include <doctest/doctest.h>
#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <thread>

#include "matrix/backend/backend.h"
#include "matrix/backend/cpu/conv/gather.h"
#include "matrix/ops/pooling.h"
#include "matrix/threads.h"
#include "tests/matrix/conv/cases.h"
#include "tests/matrix/conv/reference.h"
#include "tests/support/slow.h"

namespace kaiseki {
namespace {

const Pooling2d kPoolings[] = {
    {},
    {.window = {3, 3}, .stride = {2, 2}},
    {.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}, .ceil_mode = true},
    {.window = {2, 2}, .stride = {2, 2}, .padding = {1, 1}},
    {.window = {2, 2}, .ceil_mode = true},
    {.window = {5, 3}, .stride = {1, 3}, .padding = {2, 0}},
    {.window = {2, 1}, .stride = {4, 2}},
};

/// Images that are large enough for several of Winograd's blocks each.
std::vector<ConvProblem> cases() {
  std::vector<ConvProblem> all = test::conv_cases();
  std::erase_if(all, [](const ConvProblem& p) { return p.h > 1000 || p.w > 1000; });
  if (KAISEKI_SLOW) {  // every third
    size_t number = 0;
    std::erase_if(all, [&](const ConvProblem&) { return number++ % 3 != 0; });
  }
  ConvProblem p{.n = 4, .c = 40, .h = 28, .w = 30, .k = 24, .r = 5, .s = 5, .padding = {2, 2}};
  all.push_back(p);
  p = {.n = 2, .c = 60, .h = 41, .w = 38, .k = 72, .r = 3, .s = 3, .padding = {1, 0}};
  all.push_back(p);
  p.groups = 2;
  if (!KAISEKI_SLOW) all.push_back(p);
  p = {.n = 2, .c = 3, .h = 131, .w = 255, .k = 48, .r = 11, .s = 11, .stride = {4, 4}};
  all.push_back(p);
  return all;
}

bool fits(const ConvProblem& p, const Pooling2d& pooling) {
  return p.out_h() + 2 * pooling.padding[0] >= pooling.window[0] &&
         p.out_w() + 2 * pooling.padding[1] >= pooling.window[1];
}

/// A few different values, so that maxima tie, and a NaN.
Tensor tied(const Shape& shape, uint64_t seed) {
  Tensor t = test::random_tensor(shape, seed, Device::cpu(), -2, 2);
  float* values = t.mutable_data<float>();
  for (int64_t i = 0; i < t.size(); ++i) values[i] = std::round(values[i]);
  values[t.size() / 3] = std::numeric_limits<float>::quiet_NaN();
  return t;
}

bool same(const Tensor& a, const Tensor& b) {
  const std::vector<float> x = a.to_vector(), y = b.to_vector();
  for (size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i]))) return false;
  return x.size() == y.size();
}

void check_forward(const ConvSolver& solver, const ConvProblem& p, const Pooling2d& pooling) {
  const Shape whole{p.n, p.k, p.out_h(), p.out_w()}, shape = pooling2d_shape(whole, pooling);
  Tensor x = tied({p.n, p.c, p.h, p.w}, 1), filter = tied({p.k, p.c / p.groups, p.r, p.s}, 2);
  filter.mutable_data<float>()[filter.size() / 3] = 1;
  const Tensor bias = test::random_tensor({p.k}, 3, Device::cpu());
  ConvArgs args{.x = &x, .filter = &filter, .bias = &bias, .activation = Activation::relu};
  Tensor between(whole), expected(shape), places(shape, DType::i32);
  args.y = &between;
  test::run_solver(solver, p, args, Device::cpu());
  max_pool2d_into(expected, places, between, pooling);
  PoolingArgs wanted = pooling_args(whole, shape, pooling, true);
  Tensor y = Tensor::full(shape, 7), indices = Tensor::zeros(shape, DType::i32);
  wanted.y = &y;
  wanted.indices = &indices;
  args.y = nullptr;
  args.pooling = &wanted;
  test::run_solver(solver, p, args, Device::cpu());
  CHECK(same(y, expected));
  CHECK(indices.to_vector<int32_t>() == places.to_vector<int32_t>());
  y = Tensor::full(shape, 7);
  wanted.indices = nullptr;
  test::run_solver(solver, p, args, Device::cpu());
  CHECK(same(y, expected));
}

void check_backward(const ConvSolver& solver, const ConvProblem& p, const Pooling2d& pooling) {
  const Shape whole{p.n, p.k, p.out_h(), p.out_w()}, shape = pooling2d_shape(whole, pooling);
  Tensor output = tied(whole, 1), y(shape), indices(shape, DType::i32), between(whole);
  max_pool2d_into(y, indices, output, pooling);
  const Tensor dy = test::random_tensor(shape, 2, Device::cpu());
  max_pool2d_backward_into(between, dy, indices, pooling);
  Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 3, Device::cpu());
  Tensor filter = test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 4, Device::cpu());
  Tensor& result = p.direction == ConvDirection::backward_data ? x : filter;
  const Tensor before = result.clone();
  ConvArgs args{.x = &x, .filter = &filter, .y = &between, .beta = 0.5f};
  if (p.direction == ConvDirection::backward_data) args.beta = 0;
  test::run_solver(solver, p, args, Device::cpu());
  const Tensor expected = result;
  result = before;
  PoolingArgs wanted = pooling_args(whole, shape, pooling, true);
  wanted.dy = &dy;
  wanted.indices = &indices;
  args.y = nullptr;
  args.pooling = &wanted;
  test::run_solver(solver, p, args, Device::cpu());
  CHECK(same(result, expected));
}

}  // namespace

TEST_CASE("a convolution with pooling gives the bits of both operations") {
  std::set<std::string> forward, data, gradient;
  for (int threads : {1, 2}) {
    set_thread_count(threads);
    int turn = threads;
    for (ConvProblem p : cases())
      for (const Pooling2d& pooling : kPoolings) {
        // Each case has one number of threads. A slow build runs every second case.
        if (++turn % (KAISEKI_SLOW ? 4 : 2) || !fits(p, pooling)) continue;
        for (const ConvSolver* solver : Device::cpu().backend().conv_solvers())
          for (auto direction : {ConvDirection::forward, ConvDirection::backward_data,
                                 ConvDirection::backward_filter}) {
            p.direction = direction;
            if (!solver->applicable(p) || !solver->fuses_pooling(p)) continue;
            INFO(std::string(solver->name()), " ", p.str(), " pooled by ", pooling.window[0], "x",
                 pooling.window[1], " stride ", pooling.stride[0], " padding ", pooling.padding[0]);
            if (direction == ConvDirection::forward)
              check_forward(*solver, p, pooling);
            else
              check_backward(*solver, p, pooling);
            (direction == ConvDirection::forward         ? forward
             : direction == ConvDirection::backward_data ? data
                                                         : gradient)
                .emplace(solver->name());
          }
      }
  }
  set_thread_count(0);
  for (const char* name : {"winograd4x4_3x3", "winograd2x2_5x5", "winograd2x2_3x3"}) {
    CHECK(forward.contains(name));
    CHECK(data.contains(name));
    CHECK(gradient.contains(name));
  }
  CHECK(forward.contains("winograd_strided"));
  for (const char* name : {"winograd_strided", "outer_filter", "dot_filter"})
    CHECK(gradient.contains(name));
  CHECK(forward.contains("implicit_gemm"));
}

TEST_CASE("dot_filter uses little memory for a gradient that is read through a pooling") {
  const ConvProblem cases[] = {
      {.direction = ConvDirection::backward_filter, .n = 8, .c = 256, .h = 56, .w = 56, .k = 64},
      {.direction = ConvDirection::backward_filter, .n = 128, .c = 2, .h = 32, .w = 32, .k = 64},
      {.direction = ConvDirection::backward_filter, .n = 1, .c = 1, .h = 160, .w = 320, .k = 100},
  };
  const auto solvers = Device::cpu().backend().conv_solvers();
  const ConvSolver& solver =
      **std::ranges::find(solvers, std::string_view("dot_filter"), &ConvSolver::name);
  set_thread_count(1);
  for (ConvProblem p : cases) {
    p.r = p.s = 1;
    INFO(p.str());
    size_t bytes = 0;
    std::thread([&] {  // a new thread has no scratch memory yet
      check_backward(solver, p, {});
      for (int slot = 0; slot < 4; ++slot)
        bytes += malloc_usable_size(conv::thread_scratch(slot, 0));
    })
        .join();
    CHECK(bytes > 0);
    CHECK(bytes <= (1 << 20) + 4096);
  }
  set_thread_count(0);
}

}  // namespace kaiseki
