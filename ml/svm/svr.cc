// SPDX-License-Identifier: MIT
#include "ml/svm/svr.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "matrix/ops/check.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/index.h"
#include "ml/metrics/regression.h"
#include "ml/samples.h"
#include "ml/svm/kernel_cache.h"
#include "ml/svm/smo.h"

namespace kaiseki::ml {
namespace {

constexpr std::string_view kName = "SVR";

KernelOptions kernel_options(const SVROptions& options) {
  return {options.kernel, options.gamma, options.coef0, options.degree};
}

/// Each sample has two variables: one for errors above epsilon, one for errors below -epsilon.
SmoProblem regression_problem(const std::vector<float>& targets, const SVROptions& options) {
  const size_t n = targets.size();
  SmoProblem problem;
  problem.linear.resize(2 * n);
  problem.lower.assign(2 * n, 0);
  problem.upper.assign(2 * n, 0);
  for (size_t i = 0; i < n; ++i) {
    problem.linear[i] = static_cast<double>(targets[i]) - options.epsilon;
    problem.linear[n + i] = static_cast<double>(targets[i]) + options.epsilon;
    problem.upper[i] = options.c;
    problem.lower[n + i] = -options.c;
  }
  problem.tolerance = options.tol;
  if (options.max_iter >= 0) problem.max_iter = options.max_iter;
  return problem;
}

}  // namespace

SVR::SVR(SVROptions options) : options_(options) {
  check_kernel(kernel_options(options_), kName);
  require(options_.c > 0 && std::isfinite(options_.c), kName, "expected C above 0, got ",
          options_.c);
  require(options_.epsilon >= 0 && std::isfinite(options_.epsilon), kName,
          "expected epsilon of 0 or more, got ", options_.epsilon);
  require(options_.tol > 0 && std::isfinite(options_.tol), kName, "expected tol above 0, got ",
          options_.tol);
  require(options_.cache_size > 0 && options_.cache_size < 1e9, kName,
          "expected cache_size above 0 and below 10^9 MiB, got ", options_.cache_size);
  require(options_.max_iter >= -1, kName, "expected max_iter of -1 or more, got ",
          options_.max_iter);
}

void SVR::fit(const Tensor& x, const Tensor& y) {
  check_samples(x, kName);
  check_targets(y, x, kName);
  require(y.rank() == 1, kName, "expected y of shape [", x.dim(0), "], got ", y.shape());
  const int64_t n = x.dim(0);
  const KernelFunction function = kernel_function(kernel_options(options_), x);
  KernelCache cache(function, kernel_samples(function, x), {0, n},
                    static_cast<int64_t>(options_.cache_size * (1 << 20)));
  PairRows rows(cache, 0, 0);
  const SmoSolution solution = minimize(regression_problem(y.to_vector(), options_), rows);
  std::vector<int32_t> support;
  std::vector<double> dual;
  std::vector<VectorCoefficient> coefficients;
  for (int64_t i = 0; i < n; ++i) {
    const double coefficient = solution.coefficients[i] + solution.coefficients[n + i];
    if (coefficient == 0) continue;
    coefficients.push_back({std::ssize(dual), coefficient});
    support.push_back(static_cast<int32_t>(i));
    dual.push_back(coefficient);
  }
  const Tensor vectors = take(x, tensor_from(support, x.device()), 0);
  expansion_ = KernelExpansion(function, vectors);
  intercept_ = tensor_from({solution.intercept}, {1}, x.device());
  linear_ = {};
  if (options_.kernel == SvmKernel::linear) {
    linear_ = LinearFunction(
        linear_weights(function, vectors, {coefficients}, {solution.intercept}), false, x.device());
    intercept_ = linear_.intercept();
  }
  dual_ = tensor_from(dual, {1, static_cast<int64_t>(dual.size())}, x.device());
  support_ = std::move(support);
  iterations_ = solution.iterations;
  converged_ = solution.converged;
}

Tensor SVR::predict(const Tensor& x) const {
  if (linear_.defined()) return linear_.apply(x, kName).reshape({x.dim(0)});
  expansion_.check(x, kName);
  const Tensor dual = dual_.to(x.device());
  Tensor result = intercept_.to(x.device()).reshape({1, 1}).broadcast_to({x.dim(0), 1}).clone();
  expansion_.for_each_block(x, [&](const Tensor& kernels, int64_t begin) {
    Tensor out = result.slice(0, begin, kernels.dim(0));
    gemm(kernels, dual, out, {.transpose_b = true, .beta = 1});
  });
  return result.reshape({x.dim(0)});
}

double SVR::score(const Tensor& x, const Tensor& y) const { return r2_score(y, predict(x)); }

}  // namespace kaiseki::ml
