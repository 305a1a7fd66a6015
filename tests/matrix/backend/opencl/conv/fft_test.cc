// SPDX-License-Identifier: MIT
// Convolution by Fourier transforms in the variants for CPUs and for GPUs. The cases are tiles that
// extend beyond the output, slices, and accuracy.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>

#include "matrix/backend/opencl/conv/solvers.h"
#include "tests/matrix/backend/opencl/support.h"
#include "tests/matrix/conv/reference.h"

namespace kaiseki::opencl {
namespace {

ConvProblem problem(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k, int64_t r, int64_t s,
                    int64_t padding, int64_t groups = 1) {
  ConvProblem p{ConvDirection::forward, n, c, h, w, k, r, s};
  p.padding = {padding, padding};
  p.groups = groups;
  return p;
}

Tensor run(const ConvSolver& solver, const ConvProblem& p, const Tensor& x, const Tensor& filter,
           const Tensor& y) {
  Tensor in = x.clone(), weights = filter.clone(), out = y.clone();
  // Values that a solver does not write stay NaN, also in its workspace.
  Tensor& result = p.direction == ConvDirection::forward         ? out
                   : p.direction == ConvDirection::backward_data ? in
                                                                 : weights;
  result = Tensor::full(result.shape(), NAN, result.device());
  Tensor workspace = Tensor::full({static_cast<int64_t>(solver.workspace_bytes(p) / sizeof(float))},
                                  NAN, x.device())
                         .reinterpret(DType::u8);
  solver.run(p, {.x = &in, .filter = &weights, .y = &out, .workspace = &workspace});
  return result;
}

constexpr std::array kBoth{Style::cpu, Style::gpu};
constexpr std::array kCpu{Style::cpu};  // PoCL takes long for the products of the GPU style

/// Calls f(values, expected, sizes) for both tiles and each direction.
template <typename F>
int for_each_run(std::span<const Style> styles, ConvProblem p, F f) {
  auto* backend = test::opencl_or_null();
  if (!backend) return 0;
  const Device device = Device::opencl(0);
  const Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, device);
  const Tensor filter = test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 2, device);
  const Tensor y = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, device);
  const auto e = test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(y));
  int ran = 0;
  for (Style style : styles) {
    test::WithStyle with(backend->opencl(), style);
    for (const ConvSolver* solver : conv_fft_solvers(style)) {
      const std::string name =
          std::string(solver->name()) + (style == Style::cpu ? " for CPUs" : " for GPUs");
      INFO(name, " ", p.str());
      p.direction = ConvDirection::forward;
      if (!solver->applicable(p)) continue;
      f(run(*solver, p, x, filter, y), e.y, e.y_size);
      p.direction = ConvDirection::backward_data;
      f(run(*solver, p, x, filter, y), e.dx, e.dx_size);
      p.direction = ConvDirection::backward_filter;
      f(run(*solver, p, x, filter, y), e.dfilter, e.dfilter_size);
      ran += 3;
    }
  }
  return ran;
}

void check(const Tensor& values, const test::Doubles& expected, const test::Doubles& size) {
  test::check_sums(values, expected, size, true);
}

}  // namespace

TEST_CASE("fft: every size of the last tile, in groups, with few and many channels") {
  int ran = 0;
  for (int64_t h : {5, 13, 29})
    for (int64_t w : {12, 37})
      for (int64_t padding : {0, 5})
        ran += for_each_run(kCpu, problem(1, 4, h, w, 18, 5, 6, padding, w % 2 + 1), check);
  ran += for_each_run(kCpu, problem(1, 21, 25, 17, 5, 11, 11, 5), check);  // only 32 x 32
  ran += for_each_run(kCpu, problem(3, 2, 9, 9, 2, 1, 32, 16), check);     // no tile size
  ran += for_each_run(kBoth, problem(2, 1, 28, 23, 3, 5, 5, 2), check);
  ran += for_each_run(kBoth, problem(1, 4, 13, 7, 6, 7, 5, 5, 2), check);
  if (test::opencl_or_null()) CHECK(ran == 12 * 2 * 3 + 3 + 2 * 2 * 2 * 3);
}

TEST_CASE("fft: in several slices of tiles") {
  const ConvProblem p = problem(41, 34, 13, 13, 40, 5, 5, 2);
  const int ran = for_each_run(kCpu, p, check);
  if (test::opencl_or_null()) CHECK(ran == 2 * 3);
  ConvProblem more = p;
  more.n *= 8;
  for (const ConvSolver* solver : conv_fft_solvers(Style::cpu))
    CHECK(solver->workspace_bytes(more) < 2 * solver->workspace_bytes(p));
}

TEST_CASE("fft: accurate to some units in the last place of the largest value") {
  double most = 0;
  for_each_run(kCpu, problem(2, 96, 27, 27, 8, 5, 5, 2),
               [&](const Tensor& tensor, const test::Doubles& expected, const test::Doubles&) {
                 const test::Doubles values = test::doubles(tensor);
                 double worst = 0, largest = 0;
                 for (size_t i = 0; i < values.size(); ++i) {
                   worst = std::max(worst, std::abs(values[i] - expected[i]));
                   largest = std::max(largest, std::abs(expected[i]));
                 }
                 CHECK(worst < 2e-6 * largest);
                 most = std::max(most, worst / largest);
               });
  MESSAGE("largest error " << most << " of the largest value");
}

TEST_CASE("fft: rejects unsupported problems") {
  for (Style style : {Style::cpu, Style::gpu}) {
    const ConvSolver &large = *conv_fft_solvers(style)[0], &small = *conv_fft_solvers(style)[1];
    ConvProblem p = problem(2, 3, 40, 40, 4, 11, 11, 5);
    CHECK(large.applicable(p));
    CHECK_FALSE(small.applicable(p));
    p.stride = {2, 1};
    CHECK_FALSE(large.applicable(p));
    p = problem(2, 3, 40, 40, 4, 11, 11, 5), p.dilation = {1, 2};
    CHECK_FALSE(large.applicable(p));
    CHECK(small.applicable(problem(2, 3, 40, 40, 4, 5, 5, 2)));
    CHECK_FALSE(small.applicable(problem(2, 3, 40, 40, 4, 3, 3, 1)));
    CHECK_FALSE(large.applicable(problem(2, 3, 40, 40, 4, 17, 17, 8)));
    // Needs more than 1 GiB.
    CHECK_FALSE(large.applicable(problem(1, 2048, 14, 14, 2048, 5, 5, 2)));
  }
}

}  // namespace kaiseki::opencl
