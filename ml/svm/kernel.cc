// SPDX-License-Identifier: MIT
#include "ml/svm/kernel.h"

#include <cmath>
#include <ostream>
#include <string>

#include "base/error.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/lazy.h"
#include "matrix/ops/reduce.h"
#include "ml/moments.h"
#include "ml/samples.h"

namespace kaiseki::ml {
namespace {

constexpr int64_t kMostFactors = 8;

/// The variance of all elements.
double total_variance(const ColumnMoments& moments) {
  const auto columns = static_cast<double>(moments.mean.size());
  double mean = 0, variance = 0;
  for (double m : moments.mean) mean += m / columns;
  for (size_t j = 0; j < moments.mean.size(); ++j)
    variance += (moments.variance(j) + std::pow(moments.mean[j] - mean, 2)) / columns;
  return variance;
}

Tensor shift_of(const KernelFunction& function, const Tensor& x) {
  return tensor_from(function.shift, {x.dim(1)}, x.device());
}

KernelSamples with_norms(const KernelFunction& function, const Tensor& rows) {
  if (function.kind != SvmKernel::rbf) return {rows, {}};
  const Tensor squares = reduce(Reduction::sum_of_squares, rows, {1});
  return {rows, elementwise("-g * s", {{"g", static_cast<float>(function.gamma)}, {"s", squares}})};
}

/// Products are faster than pow().
std::string power_expression(int64_t degree) {
  if (degree < 1 || degree > kMostFactors) return "pow(v + c, d)";
  std::string product = "(v + c)";
  for (int64_t i = 1; i < degree; ++i) product += " * (v + c)";
  return product;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Gamma& gamma) {
  if (gamma.is_number) return out << gamma.value;
  return out << (gamma.rule == GammaRule::scale ? "scale" : "auto");
}

void check_kernel(const KernelOptions& options, std::string_view name) {
  const double gamma = options.gamma.is_number ? options.gamma.value : 1;
  require(gamma >= 0 && std::isfinite(gamma), name, "expected gamma of 0 or more, got ", gamma);
  require(std::isfinite(options.coef0), name, "expected a finite coef0, got ", options.coef0);
  require(options.degree >= 0, name, "expected degree of 0 or more, got ", options.degree);
}

KernelFunction kernel_function(const KernelOptions& options, const Tensor& x) {
  KernelFunction function{options.kernel, options.gamma.value, options.coef0, options.degree, {}};
  const ColumnMoments moments = column_moments(x);
  if (!options.gamma.is_number) {
    const double variance = options.gamma.rule == GammaRule::scale ? total_variance(moments) : 1.0;
    function.gamma = variance > 0 ? 1 / (static_cast<double>(x.dim(1)) * variance) : 1;
  }
  if (options.kernel != SvmKernel::poly) function.shift = moments.mean;
  return function;
}

KernelSamples KernelSamples::slice(int64_t begin, int64_t count) const {
  return {rows.slice(0, begin, count), norms.defined() ? norms.slice(0, begin, count) : norms};
}

KernelSamples kernel_samples(const KernelFunction& function, const Tensor& x) {
  if (function.shift.empty()) return with_norms(function, x.contiguous());
  return with_norms(function, x - shift_of(function, x));
}

KernelSamples kernel_samples_in_place(const KernelFunction& function, Tensor x) {
  if (!function.shift.empty())
    elementwise_into(x, "v - m", {{"v", x}, {"m", shift_of(function, x)}});
  return with_norms(function, x);
}

Tensor kernel_block(const KernelFunction& function, const KernelSamples& a,
                    const KernelSamples& b) {
  Tensor block({a.rows.dim(0), b.rows.dim(0)}, DType::f32, a.rows.device());
  GemmOptions options;
  options.transpose_b = true;
  const auto gamma = static_cast<float>(function.gamma);
  if (function.kind == SvmKernel::poly) options.alpha = gamma;
  if (function.kind == SvmKernel::rbf) {
    options.alpha = 2 * gamma;
    options.bias_per_column = &b.norms;
  }
  gemm(a.rows, b.rows, block, options);
  if (function.kind == SvmKernel::rbf)
    elementwise_into(block, "exp(min(v + r, 0))", {{"v", block}, {"r", a.norms.reshape({-1, 1})}});
  if (function.kind == SvmKernel::poly)
    elementwise_into(block, power_expression(function.degree),
                     {{"v", block},
                      {"c", static_cast<float>(function.coef0)},
                      {"d", static_cast<float>(function.degree)}});
  return block;
}

std::vector<double> kernel_diagonal(const KernelFunction& function, const KernelSamples& samples) {
  if (function.kind == SvmKernel::rbf)
    return std::vector<double>(static_cast<size_t>(samples.rows.dim(0)), 1.0);
  const std::vector<float> squares =
      reduce(Reduction::sum_of_squares, samples.rows, {1}).to_vector();
  std::vector<double> diagonal(squares.begin(), squares.end());
  if (function.kind == SvmKernel::poly)
    for (double& value : diagonal)
      value =
          std::pow(function.gamma * value + function.coef0, static_cast<double>(function.degree));
  return diagonal;
}

}  // namespace kaiseki::ml
