// SPDX-License-Identifier: MIT
#include "ml/svm/kernel_cache.h"

#include <cmath>

#include "matrix/ops/lazy.h"
#include "ml/svm/smo.h"
#include "tests/ml/svm/kernels.h"
#include "tests/support/devices.h"

using namespace kaiseki;
using namespace kaiseki::ml;
using namespace kaiseki::test;

namespace {

double exact_kernel(const KernelFunction& function, const float* a, const float* b, int64_t d) {
  double product = 0, squared = 0;
  for (int64_t j = 0; j < d; ++j) {
    const double shift = function.shift.empty() ? 0 : function.shift[j];
    const double x = static_cast<double>(a[j]) - shift, y = static_cast<double>(b[j]) - shift;
    product += x * y;
    squared += (x - y) * (x - y);
  }
  if (function.kind == SvmKernel::linear) return product;
  if (function.kind == SvmKernel::rbf) return std::exp(-function.gamma * squared);
  return std::pow(function.gamma * product + function.coef0, static_cast<double>(function.degree));
}

}  // namespace

TEST_CASE("kernel_block: each kernel, with a mean far from 0, on every device") {
  const Tensor base = floats(lcg_numbers(23 * 7, 3), {23, 7});
  for_each_device([&](Device device) {
    for (const SvmKernel kind : {SvmKernel::linear, SvmKernel::poly, SvmKernel::rbf})
      for (const int64_t degree : {0, 1, 3, 9}) {
        const float far = kind == SvmKernel::rbf ? 1000 : 0.1f;
        const Tensor x = base + far;
        const KernelFunction function = kernel_function({kind, 0.7, -0.5, degree}, x.to(device));
        const KernelSamples samples = kernel_samples(function, x.to(device));
        const std::vector<float> block =
            kernel_block(function, samples.slice(0, 9), samples.slice(4, 19)).to_vector();
        const std::vector<double> diagonal = kernel_diagonal(function, samples);
        const float* values = x.data<float>();
        for (int64_t i = 0; i < 9; ++i) {
          for (int64_t j = 0; j < 19; ++j)
            CHECK(static_cast<double>(block[i * 19 + j]) ==
                  doctest::Approx(exact_kernel(function, values + i * 7, values + (j + 4) * 7, 7))
                      .epsilon(1e-5));
          CHECK(diagonal[i] ==
                doctest::Approx(exact_kernel(function, values + i * 7, values + i * 7, 7))
                    .epsilon(1e-5));
        }
      }
  });
}

TEST_CASE("gamma: scale, automatic, and samples without variance") {
  const Tensor x{{0, 2}, {4, 6}};
  CHECK(kernel_function({SvmKernel::rbf, GammaRule::scale, 0, 3}, x).gamma ==
        doctest::Approx(1 / (2 * 5.0)));
  CHECK(kernel_function({SvmKernel::rbf, GammaRule::automatic, 0, 3}, x).gamma == 0.5);
  CHECK(kernel_function({SvmKernel::rbf, GammaRule::scale, 0, 3}, Tensor{{1, 1}, {1, 1}}).gamma ==
        1);
}

TEST_CASE("KernelCache: segments stay within the bytes, and rows that are in use stay") {
  const int64_t n = 200, d = 3;
  const Tensor x = floats(lcg_numbers(n * d, 5), {n, d});
  const KernelFunction function = kernel_function({SvmKernel::rbf, 1.0, 0, 3}, x);
  // The least capacity is 8 rows.
  KernelCache cache(function, kernel_samples(function, x), {0, 120, 200}, 1);
  CHECK(cache.segments_that_fit(0) == 8 * 200 / 120);
  PairRows rows(cache, 0, 1);
  CHECK(rows.size() == 200);
  CHECK(rows.rows_per_load() >= 1);
  CHECK(rows.rows_per_load() <= 3);
  const float* values = x.data<float>();
  for (int64_t i = 0; i < n; ++i) {
    const int64_t keep = (i * 7 + 3) % n;
    if (!rows.use(keep)) rows.load({keep});
    if (!rows.use(i) || !rows.use(keep)) rows.load({i}, keep);
    REQUIRE(rows.use(i));
    REQUIRE(rows.use(keep));
    for (const int64_t k : {i, keep}) {
      CHECK(static_cast<double>(rows.row(k).first[17]) ==
            doctest::Approx(exact_kernel(function, values + k * d, values + 17 * d, d)));
      CHECK(static_cast<double>(rows.row(k).second[5]) ==
            doctest::Approx(exact_kernel(function, values + k * d, values + 125 * d, d)));
    }
  }
  CHECK(cache.generation() > 0);
  CHECK(cache.bytes() <= 8 * 200 * 4);
}

TEST_CASE("KernelCache: pairs of groups share segments") {
  const int64_t n = 90, d = 3;
  const Tensor x = floats(lcg_numbers(n * d, 5), {n, d});
  const KernelFunction function = kernel_function({SvmKernel::rbf, 1.0, 0, 3}, x);
  KernelCache cache(function, kernel_samples(function, x), {0, 30, 60, 90}, 1 << 20);
  PairRows first(cache, 0, 1);
  first.load({0, 1, 2}, {});
  CHECK(cache.computed() == 6);
  PairRows second(cache, 0, 2);
  CHECK_FALSE(second.use(0));
  second.load({0, 1, 2}, {});
  CHECK(cache.computed() == 9);
  REQUIRE((first.use(1) && second.use(1)));
  CHECK(second.row(1).first == first.row(1).first);
}

TEST_CASE("minimize: equal results from a cache of all rows and from one of few rows") {
  const MlSet set = labeled_set("pairs");
  std::vector<double> coefficients[2];
  int64_t computed[2];
  for (const int few : {0, 1}) {
    const KernelFunction function =
        kernel_function({SvmKernel::rbf, GammaRule::scale, 0, 3}, set.x);
    const int64_t n = set.x.dim(0);
    KernelCache cache(function, kernel_samples(function, set.x), {0, n / 2, n},
                      few ? 1 : int64_t{1} << 30);
    PairRows rows(cache, 0, 1);
    SmoProblem problem;
    for (int64_t i = 0; i < n; ++i) {
      const bool first = i < n / 2;
      problem.linear.push_back(first ? 1 : -1);
      problem.lower.push_back(first ? 0 : -1);
      problem.upper.push_back(first ? 1 : 0);
    }
    problem.tolerance = 1e-8;
    const SmoSolution solution = minimize(problem, rows);
    CHECK(solution.converged);
    coefficients[few] = solution.coefficients;
    computed[few] = cache.computed();
  }
  CHECK(difference(coefficients[1], coefficients[0]) < 1e-5);
  CHECK(computed[0] == 2 * 90);
  CHECK(computed[1] > computed[0]);
}
