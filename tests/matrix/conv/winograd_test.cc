// SPDX-License-Identifier: MIT
// Winograd's solver where the shape of its tiles matters, and how exact it is.
#include "matrix/conv/winograd.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "matrix/memory/pool.h"
#include "matrix/ops/conv.h"
#include "matrix/threads.h"
#include "tests/matrix/conv/cases.h"
#include "tests/matrix/conv/reference.h"

namespace kaiseki {
namespace {

ConvProblem problem(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k, int64_t padding) {
  ConvProblem p{ConvDirection::forward, n, c, h, w, k, 3, 3};
  p.padding = {padding, padding};
  return p;
}

Tensor run(const ConvProblem& p, Tensor& x, Tensor& filter) {
  Tensor y({p.n, p.k, p.out_h(), p.out_w()}, DType::f32, Device::cpu());
  Tensor workspace({static_cast<int64_t>(winograd_solver().workspace_bytes(p))}, DType::u8,
                   Device::cpu());
  winograd_solver().run(p, {.x = &x, .filter = &filter, .y = &y, .workspace = &workspace});
  return y;
}

}  // namespace

TEST_CASE("winograd: every overhang of the tiles, in both directions") {
  int ran = 0;
  for (int64_t h : {1, 2, 3, 4, 5, 7, 9})
    for (int64_t w : {1, 4, 6, 17, 35, 67})
      for (int64_t padding : {1, 2}) {
        const ConvProblem p = problem(2, 3, h, w, 2, padding);
        Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
        Tensor filter = test::random_tensor({p.k, p.c, 3, 3}, 2, Device::cpu());
        Tensor y = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, Device::cpu());
        const auto expected =
            test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(y));
        INFO(p.str());
        test::check_sums(run(p, x, filter), expected.y, expected.y_size, true);
        ConvProblem back = p;
        back.direction = ConvDirection::backward_data;
        Tensor dx = Tensor::full(x.shape(), 7, Device::cpu());
        Tensor workspace({static_cast<int64_t>(winograd_solver().workspace_bytes(back))}, DType::u8,
                         Device::cpu());
        winograd_solver().run(back,
                              {.x = &dx, .filter = &filter, .y = &y, .workspace = &workspace});
        test::check_sums(dx, expected.dx, expected.dx_size, true);
        ++ran;
      }
  CHECK(ran == 84);
}

TEST_CASE("winograd: a NaN reaches every output that reads it, and none beyond its tiles") {
  const ConvProblem p = problem(1, 3, 13, 22, 2, 1);
  constexpr int64_t kChannel = 1, kRow = 6, kColumn = 11;
  Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
  Tensor filter = test::random_tensor({p.k, p.c, 3, 3}, 2, Device::cpu());
  x.mutable_data<float>()[(kChannel * p.h + kRow) * p.w + kColumn] = NAN;
  const test::Doubles y = test::doubles(run(p, x, filter));
  const auto within = [](int64_t first, int64_t value, int64_t last) {
    return first <= value && value <= last;
  };
  for (int64_t k = 0; k < p.k; ++k)
    for (int64_t i = 0; i < p.h; ++i)
      for (int64_t j = 0; j < p.w; ++j) {
        const bool reads = within(kRow - 1, i, kRow + 1) && within(kColumn - 1, j, kColumn + 1);
        const int64_t top = i / 4 * 4 - 1, left = j / 4 * 4 - 1;  // of the 6x6 that its tile reads
        const bool tile = within(top, kRow, top + 5) && within(left, kColumn, left + 5);
        INFO(k << ' ' << i << ' ' << j);
        const bool is_nan = std::isnan(y[static_cast<size_t>((k * p.h + i) * p.w + j)]);
        CHECK((is_nan ? tile : !reads));
      }
}

TEST_CASE("winograd: serves what it can do and where it pays") {
  ConvProblem p = problem(2, 64, 28, 28, 64, 1);
  CHECK(winograd_solver().applicable(p));
  p.direction = ConvDirection::backward_data;
  CHECK(winograd_solver().applicable(p));
  p.direction = ConvDirection::backward_filter;
  CHECK_FALSE(winograd_solver().applicable(p));
  p = problem(2, 64, 28, 28, 64, 1), p.stride = {2, 2};
  CHECK_FALSE(winograd_solver().applicable(p));
  p = problem(2, 64, 28, 28, 64, 2), p.dilation = {2, 2};
  CHECK_FALSE(winograd_solver().applicable(p));
  p = problem(2, 64, 28, 28, 64, 1), p.groups = 2;
  CHECK_FALSE(winograd_solver().applicable(p));
  CHECK_FALSE(winograd_solver().applicable(problem(2, 64, 28, 28, 64, 3)));
  CHECK_FALSE(winograd_solver().applicable(problem(1, 512, 7, 7, 512, 1)));
}

TEST_CASE("winograd: error below 1e-4 of the largest value with many channels") {
  const ConvProblem p = problem(1, 512, 14, 14, 8, 1);
  Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
  Tensor filter = test::random_tensor({p.k, p.c, 3, 3}, 2, Device::cpu());
  const test::Doubles y = test::doubles(run(p, x, filter));
  const auto expected =
      test::conv_reference(p, test::doubles(x), test::doubles(filter), test::Doubles(y.size()));
  double worst = 0, largest = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    worst = std::max(worst, std::abs(y[i] - expected.y[i]));
    largest = std::max(largest, std::abs(expected.y[i]));
  }
  CHECK(worst < 1e-4 * largest);
  MESSAGE("largest error " << worst / largest << " of the largest value");
}

TEST_CASE("winograd: without room for its workspace another solver computes") {
  const ConvProblem p = problem(2, 64, 28, 28, 64, 1);
  Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
  Tensor filter = test::random_tensor({p.k, p.c, 3, 3}, 2, Device::cpu());
  const test::Doubles expected = test::doubles(run(p, x, filter));
  Tensor y = Tensor::full({p.n, p.k, p.out_h(), p.out_w()}, 7, Device::cpu());
  MemoryPool& pool = Device::cpu().memory();
  for (uint64_t room : {winograd_solver().workspace_bytes(p) / 2, uint64_t{0}}) {
    y = Tensor::full(y.shape(), 7, Device::cpu());
    pool.trim();
    pool.set_budget(pool.account().in_use + room);
    conv2d(x, filter, nullptr, {.padding = {1, 1}}, y);
    pool.set_budget({});
    const test::Doubles values = test::doubles(y);
    double worst = 0;
    for (size_t i = 0; i < values.size(); ++i)
      worst = std::max(worst, std::abs(values[i] - expected[i]));
    CHECK(worst < 1e-3);
  }
}

TEST_CASE("winograd: the same bits with any number of threads") {
  const ConvProblem p = problem(3, 20, 19, 23, 18, 1);
  Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
  Tensor filter = test::random_tensor({p.k, p.c, 3, 3}, 2, Device::cpu());
  test::Doubles first;
  for (int threads : {1, 2, 3, 7}) {
    set_thread_count(threads);
    const test::Doubles y = test::doubles(run(p, x, filter));
    if (first.empty()) first = y;
    CHECK(first == y);
  }
  set_thread_count(0);
}

}  // namespace kaiseki
