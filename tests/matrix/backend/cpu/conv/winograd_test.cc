// SPDX-License-Identifier: MIT
// Winograd's solver with shapes that depend on its tiles, and its accuracy.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "matrix/backend/cpu/conv/solvers.h"
#include "matrix/memory/allocator.h"
#include "matrix/ops/conv.h"
#include "matrix/threads.h"
#include "tests/matrix/conv/cases.h"
#include "tests/matrix/conv/reference.h"

namespace kaiseki {
namespace {

struct Form {
  const ConvSolver& solver;
  int64_t outputs, taps;
};

std::vector<Form> forms() {
  const auto solvers = winograd_solvers();
  return {{*solvers[0], 4, 3}, {*solvers[1], 2, 5}, {*solvers[2], 2, 3}};
}

ConvProblem problem(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k, int64_t padding,
                    int64_t taps = 3) {
  ConvProblem p{ConvDirection::forward, n, c, h, w, k, taps, taps};
  p.padding = {padding, padding};
  return p;
}

Tensor random_filter(const ConvProblem& p) {
  return test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 2, Device::cpu());
}

Tensor run(const ConvSolver& solver, const ConvProblem& p, Tensor& x, Tensor& filter) {
  Tensor y = Tensor::full({p.n, p.k, p.out_h(), p.out_w()}, 7, Device::cpu());
  Tensor workspace = test::nan_workspace(solver.workspace_bytes(p), Device::cpu());
  solver.run(p, {.x = &x, .filter = &filter, .y = &y, .workspace = &workspace});
  return y;
}

Tensor filter_gradient(const ConvSolver& solver, ConvProblem p, Tensor& x, Tensor& dy) {
  p.direction = ConvDirection::backward_filter;
  Tensor filter = Tensor::full({p.k, p.c / p.groups, p.r, p.s}, 7, Device::cpu());
  Tensor workspace = test::nan_workspace(solver.workspace_bytes(p), Device::cpu());
  solver.run(p, {.x = &x, .filter = &filter, .y = &dy, .workspace = &workspace});
  return filter;
}

}  // namespace

TEST_CASE("winograd: every size of the last tile, in all directions and in groups") {
  int ran = 0;
  for (const Form& form : forms())
    for (int64_t h : {1, 2, 3, 4, 5, 7, 9})
      for (int64_t w : {1, 4, 6, 17, 35, 67})
        for (int64_t padding : {form.taps / 2, form.taps - 1}) {
          ConvProblem p = problem(2, 6, h, w, 4, padding, form.taps);
          p.groups = w % 2 + 1;
          Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
          Tensor filter = random_filter(p);
          Tensor y = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, Device::cpu());
          const auto expected =
              test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(y));
          INFO(form.solver.name(), ' ', p.str());
          test::check_sums(run(form.solver, p, x, filter), expected.y, expected.y_size, true);
          p.direction = ConvDirection::backward_data;
          Tensor dx = Tensor::full(x.shape(), 7, Device::cpu());
          Tensor workspace = test::nan_workspace(form.solver.workspace_bytes(p), Device::cpu());
          form.solver.run(p, {.x = &dx, .filter = &filter, .y = &y, .workspace = &workspace});
          test::check_sums(dx, expected.dx, expected.dx_size, true);
          test::check_sums(filter_gradient(form.solver, p, x, y), expected.dfilter,
                           expected.dfilter_size, true);
          ++ran;
        }
  CHECK(ran == 3 * 84);
}

TEST_CASE("winograd: strides by phases, with every size of the last tile") {
  const ConvSolver& solver = strided_winograd_solver();
  for (std::array<int64_t, 2> stride : {std::array<int64_t, 2>{2, 3}, {4, 2}})
    for (int64_t more : {1, 2})
      for (int64_t h : {13, 14, 16, 31})
        for (int64_t padding : {0, 3}) {
          ConvProblem p = problem(2, 2, h, 26 - h / 2, 4, padding);
          p.r = 2 * stride[0] + more, p.s = 2 * stride[1] + 1;
          p.stride = stride, p.groups = more;
          Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
          Tensor filter = random_filter(p);
          Tensor y = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, Device::cpu());
          const auto expected =
              test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(y));
          INFO(p.str());
          test::check_sums(run(solver, p, x, filter), expected.y, expected.y_size, true);
          test::check_sums(filter_gradient(solver, p, x, y), expected.dfilter,
                           expected.dfilter_size, true);
          p.direction = ConvDirection::backward_data;
          Tensor dx = Tensor::full(x.shape(), 7, Device::cpu());
          Tensor workspace = test::nan_workspace(solver.workspace_bytes(p), Device::cpu());
          solver.run(p, {.x = &dx, .filter = &filter, .y = &y, .workspace = &workspace});
          test::check_sums(dx, expected.dx, expected.dx_size, true);
        }
}

TEST_CASE("winograd: a NaN affects every output that reads it, and none outside its tiles") {
  for (const Form& form : forms()) {
    const ConvProblem p = problem(1, 3, 13, 22, 2, form.taps / 2, form.taps);
    constexpr int64_t kChannel = 1, kRow = 6, kColumn = 11;
    Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
    Tensor filter = random_filter(p);
    x.mutable_data<float>()[(kChannel * p.h + kRow) * p.w + kColumn] = NAN;
    const test::Doubles y = test::doubles(run(form.solver, p, x, filter));
    const auto within = [](int64_t first, int64_t value, int64_t last) {
      return first <= value && value <= last;
    };
    for (int64_t k = 0; k < p.k; ++k)
      for (int64_t i = 0; i < p.h; ++i)
        for (int64_t j = 0; j < p.w; ++j) {
          const int64_t reach = form.taps / 2;
          const bool reads =
              within(kRow - reach, i, kRow + reach) && within(kColumn - reach, j, kColumn + reach);
          // First row that its tile reads.
          const int64_t top = i / form.outputs * form.outputs - reach;
          const int64_t left = j / form.outputs * form.outputs - reach;
          const int64_t more = form.outputs + form.taps - 2;
          const bool tile = within(top, kRow, top + more) && within(left, kColumn, left + more);
          INFO(k << ' ' << i << ' ' << j);
          const bool is_nan = std::isnan(y[static_cast<size_t>((k * p.h + i) * p.w + j)]);
          CHECK((is_nan ? tile : !reads));
        }
  }
}

TEST_CASE("winograd: applies to the problems that it supports, and only if it is faster") {
  const ConvSolver &wide = *winograd_solvers()[0], &large = *winograd_solvers()[1];
  ConvProblem p = problem(2, 64, 28, 28, 64, 1);
  CHECK(wide.applicable(p));
  CHECK_FALSE(large.applicable(p));
  p.direction = ConvDirection::backward_data;
  CHECK(wide.applicable(p));
  p.direction = ConvDirection::backward_filter;
  CHECK(wide.applicable(p));
  p = problem(2, 64, 28, 28, 64, 1), p.stride = {2, 2};
  CHECK_FALSE(wide.applicable(p));
  p = problem(2, 64, 28, 28, 64, 2), p.dilation = {2, 2};
  CHECK_FALSE(wide.applicable(p));
  p = problem(2, 64, 28, 28, 64, 1), p.groups = 2;
  CHECK(wide.applicable(p));
  p.groups = 8;
  CHECK_FALSE(wide.applicable(p));
  CHECK_FALSE(wide.applicable(problem(2, 64, 28, 28, 64, 3)));
  CHECK_FALSE(wide.applicable(problem(1, 512, 7, 7, 512, 1)));
  CHECK(large.applicable(problem(64, 20, 12, 12, 50, 0, 5)));
  CHECK_FALSE(large.applicable(problem(64, 20, 12, 12, 50, 5, 5)));
  const ConvSolver& strided = strided_winograd_solver();
  p = problem(2, 3, 227, 227, 96, 0, 11), p.stride = {4, 4};
  CHECK(strided.applicable(p));
  p.direction = ConvDirection::backward_filter;
  CHECK(strided.applicable(p));
  p.stride = {4, 6};
  CHECK_FALSE(strided.applicable(p));
  p.stride = {4, 4}, p.dilation = {2, 2};
  CHECK_FALSE(strided.applicable(p));
  p = problem(2, 64, 56, 56, 64, 2, 5), p.stride = {2, 2};  // a quarter of its products are padding
  CHECK_FALSE(strided.applicable(p));
}

TEST_CASE("winograd: error below 1e-4 of the largest value with many channels") {
  for (const Form& form : forms()) {
    const ConvProblem p = problem(1, 512, 14, 14, 8, form.taps / 2, form.taps);
    Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
    Tensor filter = random_filter(p);
    const test::Doubles y = test::doubles(run(form.solver, p, x, filter));
    const auto expected =
        test::conv_reference(p, test::doubles(x), test::doubles(filter), test::Doubles(y.size()));
    double worst = 0, largest = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      worst = std::max(worst, std::abs(y[i] - expected.y[i]));
      largest = std::max(largest, std::abs(expected.y[i]));
    }
    CHECK(worst < 1e-4 * largest);
    MESSAGE(std::string(form.solver.name())
            << ": largest error " << worst / largest << " of the largest value");
  }
}

TEST_CASE("winograd: a gradient is computed in chunks, pieces of the batch and blocks of outputs") {
  for (const Form& form : forms())
    for (ConvProblem p : {problem(1, 3, 224, 224, 2, form.taps / 2, form.taps),
                          problem(1, 34, 9, 5, 260, 1, form.taps),
                          problem(35, 33, 4, 3, 17, form.taps / 2, form.taps)}) {
      Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
      Tensor filter = random_filter(p);
      Tensor dy = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, Device::cpu());
      const auto expected =
          test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(dy));
      const test::Doubles sums = test::doubles(filter_gradient(form.solver, p, x, dy));
      double worst = 0, largest = 0;
      for (size_t i = 0; i < sums.size(); ++i) {
        worst = std::max(worst, std::abs(sums[i] - expected.dfilter[i]));
        largest = std::max(largest, std::abs(expected.dfilter[i]));
      }
      CHECK(worst < 3e-5 * largest);  // 1.1e-5 without fused multiply-add (SSE4)
      MESSAGE(std::string(form.solver.name()) << " " << p.str() << ": largest error "
                                              << worst / largest << " of the largest value");
    }
}

TEST_CASE("winograd: without room for its workspace, another solver runs") {
  const ConvProblem p = problem(2, 64, 28, 28, 64, 1);
  Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
  Tensor filter = random_filter(p);
  const test::Doubles expected = test::doubles(run(*winograd_solvers()[0], p, x, filter));
  Tensor y = Tensor::full({p.n, p.k, p.out_h(), p.out_w()}, 7, Device::cpu());
  Allocator& allocator = Device::cpu().memory();
  for (uint64_t room : {winograd_solvers()[0]->workspace_bytes(p) / 2, uint64_t{0}}) {
    y = Tensor::full(y.shape(), 7, Device::cpu());
    allocator.trim();
    allocator.set_budget(allocator.account().in_use + room);
    conv2d_into(y, x, filter, {.padding = {1, 1}});
    allocator.set_budget({});
    const test::Doubles values = test::doubles(y);
    double worst = 0;
    for (size_t i = 0; i < values.size(); ++i)
      worst = std::max(worst, std::abs(values[i] - expected[i]));
    CHECK(worst < 1e-3);
  }
}

TEST_CASE("winograd: the same bits with any number of threads") {
  for (const Form& form : forms())
    for (int64_t groups : {1, 2}) {
      ConvProblem p = problem(3, 20, 19, 43, 18, 1, form.taps);
      p.groups = groups;
      Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
      Tensor filter = random_filter(p);
      test::Doubles first, first_sums;
      for (int threads : {1, 2, 3, 7}) {
        set_thread_count(threads);
        const test::Doubles y = test::doubles(run(form.solver, p, x, filter));
        Tensor dy = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, Device::cpu());
        const test::Doubles sums = test::doubles(filter_gradient(form.solver, p, x, dy));
        if (first.empty()) first = y, first_sums = sums;
        CHECK(first == y);
        CHECK(first_sums == sums);
      }
    }
  set_thread_count(0);
}

}  // namespace kaiseki
