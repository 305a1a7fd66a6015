// SPDX-License-Identifier: MIT
// How exact each of the CPU's solvers is, against double precision.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "matrix/backend.h"
#include "tests/matrix/conv/reference.h"

namespace kaiseki {
namespace {

ConvProblem problem(int64_t n, int64_t c, int64_t side, int64_t k, int64_t taps,
                    int64_t groups = 1) {
  ConvProblem p{ConvDirection::forward, n, c, side, side, k, taps, taps};
  p.padding = {taps / 2, taps / 2};
  p.groups = groups;
  return p;
}

/// The largest error, by the largest value.
double error(const Tensor& actual, const test::Doubles& expected) {
  const test::Doubles values = test::doubles(actual);
  double worst = 0, largest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    worst = std::max(worst, std::abs(values[i] - expected[i]));
    largest = std::max(largest, std::abs(expected[i]));
  }
  return worst / largest;
}

/// Float sums and Fourier transforms are seen to be off by up to 1e-6 of the largest value;
/// Winograd's, whose constants amplify roundings, by 1e-5. A wrong term is off by far more.
double allowed(const std::string& solver) { return solver.starts_with("winograd") ? 5e-5 : 5e-6; }

}  // namespace

TEST_CASE("every solver of the CPU is exact to some units in the last place of the largest value") {
  std::map<std::string, double> worst;
  for (ConvProblem p :
       {problem(1, 128, 12, 8, 3), problem(2, 200, 9, 14, 1), problem(1, 24, 30, 6, 7),
        problem(1, 8, 30, 16, 5), problem(2, 12, 28, 12, 3, 12), problem(1, 32, 27, 24, 5, 2)}) {
    Tensor x = test::random_tensor({p.n, p.c, p.h, p.w}, 1, Device::cpu());
    Tensor filter = test::random_tensor({p.k, p.c / p.groups, p.r, p.s}, 2, Device::cpu());
    Tensor y = test::random_tensor({p.n, p.k, p.out_h(), p.out_w()}, 3, Device::cpu());
    const auto expected =
        test::conv_reference(p, test::doubles(x), test::doubles(filter), test::doubles(y));
    for (ConvDirection direction :
         {ConvDirection::forward, ConvDirection::backward_data, ConvDirection::backward_filter}) {
      p.direction = direction;
      const bool forward = direction == ConvDirection::forward;
      const bool data = direction == ConvDirection::backward_data;
      for (const ConvSolver* solver : Device::cpu().backend().conv_solvers()) {
        if (!solver->applicable(p)) continue;
        Tensor result = Tensor::full((forward ? y : data ? x : filter).shape(), 7, Device::cpu());
        ConvArgs args{.x = &x, .filter = &filter, .y = &y};
        (forward ? args.y : data ? args.x : args.filter) = &result;
        Tensor workspace;
        if (const uint64_t bytes = solver->workspace_bytes(p)) {
          workspace = Tensor({static_cast<int64_t>(bytes)}, DType::u8, Device::cpu());
          args.workspace = &workspace;
        }
        solver->run(p, args);
        const std::string name(solver->name());
        const double seen = error(result, forward ? expected.y
                                          : data  ? expected.dx
                                                  : expected.dfilter);
        INFO(name, " ", static_cast<int>(direction), " ", p.str());
        CHECK(seen < allowed(name));
        worst[name] = std::max(worst[name], seen);
      }
    }
  }
  for (const auto& [name, seen] : worst) MESSAGE(name << ": largest error " << seen);
  for (const char* name :
       {"depthwise", "pointwise", "pointwise_filter", "implicit_gemm", "outer_filter", "dot_filter",
        "im2col", "im2col_sliced", "direct", "fft16x16", "fft32x32"}) {
    INFO(std::string(name));
    CHECK(worst.contains(name));
  }
}

}  // namespace kaiseki
