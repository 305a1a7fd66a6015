// SPDX-License-Identifier: MIT
#include "ml/linear/coordinate_descent.h"

#include <algorithm>
#include <cmath>

#include "matrix/threads.h"
#include "ml/linear/wide.h"
#include "ml/progress.h"

namespace kaiseki::ml {
namespace {

double soft_threshold(double value, const DescentProblem& problem) {
  if (problem.positive && value < 0) return 0;
  return std::copysign(std::max(0.0, std::abs(value) - problem.l1), value);
}

/// The terms of the duality gap. r = y - x w.
struct GapParts {
  double residual = 0;    // r . r
  double residual_y = 0;  // r . y
  double steepest = 0;    // the largest (positive: signed) element of |x^T r - l2 w|
  double w_l1 = 0, w_squares = 0;
};

double duality_gap(const GapParts& p, const DescentProblem& problem) {
  double scale = 1, gap = p.residual;
  if (p.steepest > problem.l1) {
    scale = problem.l1 / p.steepest;
    gap = 0.5 * (p.residual + p.residual * scale * scale);
  }
  return gap + problem.l1 * p.w_l1 - scale * p.residual_y +
         0.5 * problem.l2 * (1 + scale * scale) * p.w_squares;
}

void add_weight(GapParts& parts, double correlation, double w, const DescentProblem& problem) {
  const double slope = correlation - problem.l2 * w;
  parts.steepest = std::max(parts.steepest, problem.positive ? slope : std::abs(slope));
  parts.w_l1 += std::abs(w);
  parts.w_squares += w * w;
}

/// Runs passes until the gap is small. `update(j, w)` returns the new weight and updates its own
/// state. `parts()` returns the parts of the gap.
template <typename Update, typename Parts>
DescentResult descend(int64_t features, double y_squares, const DescentProblem& problem,
                      const Update& update, const Parts& parts) {
  DescentResult result;
  result.weights.assign(static_cast<size_t>(features), 0);
  const double limit = problem.tol * y_squares;
  for (int64_t pass = 1; pass <= problem.max_iter && !result.converged; ++pass) {
    throw_if_stopped();
    report_progress("passes", pass - 1, problem.max_iter);
    double largest = 0, largest_change = 0;
    for (int64_t j = 0; j < features; ++j) {
      double& w = result.weights[static_cast<size_t>(j)];
      const double before = w;
      w = update(j, before);
      largest = std::max(largest, std::abs(w));
      largest_change = std::max(largest_change, std::abs(w - before));
    }
    result.iterations = pass;
    // The gap costs as much as a pass, so it is computed only when the weights have settled.
    const bool settled = largest == 0 || largest_change <= problem.tol * largest;
    if (!settled && pass < problem.max_iter) continue;
    result.gap = duality_gap(parts(result.weights), problem);
    result.converged = result.gap <= limit;
  }
  return result;
}

}  // namespace

DescentResult descend_by_gram(DoubleMatrix& gram, const RegressionData& data, int64_t output,
                              const DescentProblem& problem) {
  const int64_t d = data.features, target = d + output;
  const auto g = gram.view();
  std::vector<double> rest(static_cast<size_t>(d));  // x^T (y - x w)
  for (int64_t j = 0; j < d; ++j) rest[j] = g(target, j);
  const auto update = [&](int64_t j, double w) {
    if (g(j, j) == 0) return w;
    const double next = soft_threshold(rest[j] + g(j, j) * w, problem) / (g(j, j) + problem.l2);
    if (next != w) linalg::kernels<double>().add_scaled(d, w - next, g.row(j), rest.data());
    return next;
  };
  const auto parts = [&](const std::vector<double>& weights) {
    GapParts p;
    double fit = 0, fit_y = 0;  // |x w|^2 and x w . y
    for (int64_t j = 0; j < d; ++j) {
      add_weight(p, rest[j], weights[j], problem);
      fit_y += weights[j] * g(target, j);
      fit += weights[j] * (g(target, j) - rest[j]);
    }
    p.residual = g(target, target) - 2 * fit_y + fit;
    p.residual_y = g(target, target) - fit_y;
    return p;
  };
  return descend(d, g(target, target), problem, update, parts);
}

DescentResult descend_by_residuals(const Tensor& columns, const RegressionData& data,
                                   int64_t output, const DescentProblem& problem) {
  const int64_t d = data.features, n = data.samples;
  const float* x = columns.data<float>();
  std::vector<double> y(static_cast<size_t>(n));
  double y_squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    y[i] = data.centered(i, d + output);
    y_squares += y[i] * y[i];
  }
  std::vector<double> residuals = y, norms(static_cast<size_t>(d));
  parallel_for(d, 16, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) norms[j] = wide_squares(n, x + j * n);
  });
  const auto update = [&](int64_t j, double w) {
    if (norms[j] == 0) return w;
    const float* column = x + j * n;
    const double next =
        soft_threshold(wide_dot(n, column, residuals.data()) + norms[j] * w, problem) /
        (norms[j] + problem.l2);
    if (next != w) wide_add(n, w - next, column, residuals.data());
    return next;
  };
  const auto parts = [&](const std::vector<double>& weights) {
    GapParts p;
    std::vector<double> correlations(static_cast<size_t>(d));
    parallel_for(d, 64, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        correlations[j] = wide_dot(n, x + j * n, residuals.data());
    });
    for (int64_t j = 0; j < d; ++j) add_weight(p, correlations[j], weights[j], problem);
    for (int64_t i = 0; i < n; ++i) {
      p.residual += residuals[i] * residuals[i];
      p.residual_y += residuals[i] * y[i];
    }
    return p;
  };
  return descend(d, y_squares, problem, update, parts);
}

}  // namespace kaiseki::ml
