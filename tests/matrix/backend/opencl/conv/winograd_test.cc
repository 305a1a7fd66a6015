// SPDX-License-Identifier: MIT
// Winograd's convolution in the variants for CPUs and for GPUs: tiles that extend beyond the
// output, slices, and accuracy.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "matrix/backend/opencl/conv/solvers.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/matrix/conv/reference.h"

namespace kaiseki::opencl {
namespace {

ConvProblem problem(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k, int64_t taps,
                    int64_t padding, int64_t groups = 1) {
  ConvProblem p{ConvDirection::forward, n, c, h, w, k, taps, taps};
  p.padding = {padding, padding};
  p.groups = groups;
  return p;
}

struct Data {
  Tensor x, filter, y;
  test::ConvReference expected;
  explicit Data(const ConvProblem& p)
      : x(test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::opencl(0))),
        filter(test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 2, Device::opencl(0))),
        y(test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, Device::opencl(0))),
        expected(
            test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(y))) {}
};

Tensor run(const ConvSolver& solver, const ConvProblem& p, const Data& data) {
  Tensor x = data.x.clone(), filter = data.filter.clone(), y = data.y.clone();
  Tensor workspace = test::nan_workspace(solver.workspace_bytes(p), x.device());
  solver.run(p, {.x = &x, .filter = &filter, .y = &y, .workspace = &workspace});
  return p.direction == ConvDirection::forward         ? y
         : p.direction == ConvDirection::backward_data ? x
                                                       : filter;
}

/// Calls f(values, expected, sizes) for both styles and each direction, even if the solver is
/// slower there.
template <typename F>
void for_each_run(ConvProblem p, F f) {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  const Data data(p);
  const test::ConvReference& e = data.expected;
  for (Style style : {Style::cpu, Style::gpu}) {
    test::WithStyle with(backend->opencl(), style);
    for (const ConvSolver* solver : conv_winograd_solvers(style)) {
      INFO(std::string(solver->name()), " ", p.str(), style == Style::cpu ? " CPU" : " GPU");
      p.direction = ConvDirection::forward;
      if (solver->name().ends_with("3x3") != (p.r == 3)) continue;
      f(run(*solver, p, data), e.y, e.y_size);
      p.direction = ConvDirection::backward_data;
      f(run(*solver, p, data), e.dx, e.dx_size);
      p.direction = ConvDirection::backward_filter;
      f(run(*solver, p, data), e.dfilter, e.dfilter_size);
    }
  }
}

}  // namespace

TEST_CASE("winograd: every size of the last tile, in groups and in several slices") {
  int ran = 0;
  const auto check = [&](const Tensor& values, const test::Doubles& expected,
                         const test::Doubles& size) {
    test::check_sums(values, expected, size, true);
    ++ran;
  };
  for (int64_t taps : {3, 5})
    for (int64_t h : {1, 7})
      for (int64_t w : {2, 13, 67})
        for_each_run(problem(2, 6, h, w, 4, taps, taps / 2, w % 2 + 1), check);
  for_each_run(problem(3, 96, 40, 37, 4, 3, 0), check);
  if (test::opencl_or_null()) CHECK(ran == (2 * 3 * (2 + 1) + 2) * 2 * 3);
}

TEST_CASE("winograd: error below 1e-4 of the largest value on VGG's deepest layers") {
  for_each_run(problem(1, 512, 14, 14, 8, 3, 1),
               [](const Tensor& tensor, const test::Doubles& expected, const test::Doubles&) {
                 const test::Doubles values = test::doubles(tensor);
                 double worst = 0, largest = 0;
                 for (size_t i = 0; i < values.size(); ++i) {
                   worst = std::max(worst, std::abs(values[i] - expected[i]));
                   largest = std::max(largest, std::abs(expected[i]));
                 }
                 CHECK(worst < 1e-4 * largest);
                 MESSAGE("largest error " << worst / largest << " of the largest value");
               });
}

TEST_CASE("winograd: tiles of 4 x 4 have a far smaller error") {
  auto* backend = test::opencl_or_null();
  if (!backend) return;
  const ConvProblem p = problem(1, 512, 14, 14, 8, 3, 1);
  const Data data(p);
  for (Style style : {Style::cpu, Style::gpu}) {
    test::WithStyle with(backend->opencl(), style);
    double errors[2] = {0, 0};
    for (size_t form : {0, 2}) {
      const auto values = test::doubles(run(*conv_winograd_solvers(style)[form], p, data));
      for (size_t i = 0; i < values.size(); ++i)
        errors[form / 2] = std::max(errors[form / 2], std::abs(values[i] - data.expected.y[i]));
    }
    CHECK(errors[1] < 0.3 * errors[0]);
  }
}

TEST_CASE("winograd: rejects unsupported problems") {
  for (Style style : {Style::cpu, Style::gpu}) {
    const ConvSolver &wide = *conv_winograd_solvers(style)[0],
                     &large = *conv_winograd_solvers(style)[1],
                     &exact = *conv_winograd_solvers(style)[2];
    ConvProblem p = problem(2, 64, 28, 28, 64, 3, 1);
    CHECK(wide.applicable(p));
    CHECK(exact.applicable(p));
    CHECK_FALSE(large.applicable(p));
    p.stride = {2, 2};
    CHECK_FALSE(wide.applicable(p));
    CHECK_FALSE(exact.applicable(p));
    p = problem(2, 64, 28, 28, 64, 3, 2), p.dilation = {2, 2};
    CHECK_FALSE(wide.applicable(p));
    CHECK_FALSE(wide.applicable(problem(2, 64, 28, 28, 64, 3, 3)));
    CHECK_FALSE(wide.applicable(problem(2, 64, 28, 28, 64, 3, 1, 64)));
    CHECK(large.applicable(problem(2, 256, 28, 28, 256, 5, 2, 2)));
    CHECK_FALSE(large.applicable(problem(2, 64, 28, 28, 64, 5, 2, 2)));
  }
}

}  // namespace kaiseki::opencl
