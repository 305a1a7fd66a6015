// SPDX-License-Identifier: MIT
// The Fourier solvers with shapes that depend on the tiles.
#include <doctest/doctest.h>

#include <string>

#include "matrix/backend/cpu/conv/solvers.h"
#include "matrix/threads.h"
#include "tests/matrix/conv/reference.h"

namespace kaiseki {
namespace {

ConvProblem problem(int64_t n, int64_t c, int64_t h, int64_t w, int64_t k, int64_t r, int64_t s,
                    int64_t padding) {
  ConvProblem p{ConvDirection::forward, n, c, h, w, k, r, s};
  p.padding = {padding, padding};
  return p;
}

Tensor run(const ConvSolver& solver, const ConvProblem& p, Tensor& in, Tensor& filter,
           const Shape& shape) {
  Tensor out = Tensor::full(shape, 7, Device::cpu());
  Tensor workspace = test::nan_workspace(solver.workspace_bytes(p), Device::cpu());
  ConvArgs args{.filter = &filter, .workspace = &workspace};
  const bool forward = p.direction == ConvDirection::forward;
  args.x = forward ? &in : &out, args.y = forward ? &out : &in;
  solver.run(p, args);
  return out;
}

Tensor run_filter(const ConvSolver& solver, const ConvProblem& p, Tensor& x, Tensor& dy,
                  const Shape& shape) {
  Tensor filter = Tensor::full(shape, 7, Device::cpu());
  Tensor workspace = test::nan_workspace(solver.workspace_bytes(p), Device::cpu());
  solver.run(p, {.x = &x, .filter = &filter, .y = &dy, .workspace = &workspace});
  return filter;
}

}  // namespace

TEST_CASE("fft: every size of the last tile, in all directions and in groups") {
  int ran = 0;
  for (const ConvSolver* solver : fft_solvers())
    for (int64_t h : {5, 11, 13, 29})
      for (int64_t w : {12, 25, 37})
        for (int64_t padding : {0, 5}) {
          ConvProblem p = problem(1, 4, h, w, 18, 5, 6, padding);
          p.groups = w % 2 + 1;
          Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
          Tensor filter = test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 2, Device::cpu());
          Tensor y = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, Device::cpu());
          const auto expected =
              test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(y));
          INFO(std::string(solver->name()), " ", p.str());
          REQUIRE(solver->applicable(p));
          test::check_sums(run(*solver, p, x, filter, y.shape()), expected.y, expected.y_size,
                           true);
          p.direction = ConvDirection::backward_data;
          test::check_sums(run(*solver, p, y, filter, x.shape()), expected.dx, expected.dx_size,
                           true);
          p.direction = ConvDirection::backward_filter;
          test::check_sums(run_filter(*solver, p, x, y, filter.shape()), expected.dfilter,
                           expected.dfilter_size, true);
          ++ran;
        }
  CHECK(ran == 2 * 24);
}

TEST_CASE("fft: supports large filters of stride and dilation 1 that fit its tile twice") {
  const ConvSolver &large = *fft_solvers()[0], &small = *fft_solvers()[1];
  ConvProblem p = problem(2, 3, 40, 40, 4, 11, 11, 5);
  CHECK(large.applicable(p));
  CHECK_FALSE(small.applicable(p));
  p.stride = {2, 1};
  CHECK_FALSE(large.applicable(p));
  p = problem(2, 3, 40, 40, 4, 11, 11, 5), p.dilation = {1, 2};
  CHECK_FALSE(large.applicable(p));
  p = problem(2, 3, 40, 40, 4, 5, 5, 2);
  CHECK(small.applicable(p));
  p.direction = ConvDirection::backward_filter;
  CHECK(small.applicable(p));
  CHECK_FALSE(small.applicable(problem(2, 3, 40, 40, 4, 3, 3, 1)));
  CHECK_FALSE(large.applicable(problem(2, 3, 40, 40, 4, 17, 17, 8)));
  CHECK_FALSE(large.applicable(problem(64, 512, 112, 112, 512, 5, 5, 2)));
}

TEST_CASE("fft: the same bits with any number of threads") {
  for (const ConvSolver* solver : fft_solvers()) {
    const ConvProblem p = problem(3, 20, 29, 23, 18, 7, 5, 2);
    Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
    Tensor filter = test::random_tensor({p.k, p.c, p.r, p.s}, 2, Device::cpu());
    test::Doubles first;
    for (int threads : {1, 2, 3, 7}) {
      set_thread_count(threads);
      const test::Doubles y =
          test::doubles(run(*solver, p, x, filter, {p.n, p.k, p.out_h(), p.out_w()}));
      if (first.empty()) first = y;
      CHECK(first == y);
    }
    ConvProblem back = p;
    back.direction = ConvDirection::backward_filter;
    Tensor dy = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, Device::cpu());
    first.clear();
    for (int threads : {1, 2, 3, 7}) {
      set_thread_count(threads);
      const test::Doubles df = test::doubles(run_filter(*solver, back, x, dy, filter.shape()));
      if (first.empty()) first = df;
      CHECK(first == df);
    }
  }
  set_thread_count(0);
}

}  // namespace kaiseki
