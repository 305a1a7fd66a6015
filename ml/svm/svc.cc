// SPDX-License-Identifier: MIT
#include "ml/svm/svc.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "matrix/ops/check.h"
#include "matrix/ops/elementwise.h"
#include "matrix/ops/gemm.h"
#include "matrix/ops/index.h"
#include "matrix/threads.h"
#include "ml/metrics/classification.h"
#include "ml/progress.h"
#include "ml/samples.h"
#include "ml/svm/kernel_cache.h"
#include "ml/svm/smo.h"

namespace kaiseki::ml {
namespace {

constexpr std::string_view kName = "SVC";
constexpr int64_t kRowsPerPiece = 64;

KernelOptions kernel_options(const SVCOptions& options) {
  return {options.kernel, options.gamma, options.coef0, options.degree};
}

/// The samples class by class.
struct SortedSamples {
  std::vector<int32_t> order;   // sample order[i] is at position i
  std::vector<int64_t> begins;  // position of the first sample of each class, and n
};

SortedSamples sort_by_class(const LabelCodes& labels) {
  SortedSamples sorted;
  sorted.order.resize(labels.codes.size());
  std::iota(sorted.order.begin(), sorted.order.end(), 0);
  std::stable_sort(sorted.order.begin(), sorted.order.end(),
                   [&](int32_t a, int32_t b) { return labels.codes[a] < labels.codes[b]; });
  sorted.begins.assign(labels.classes.size() + 1, 0);
  for (int32_t code : labels.codes) ++sorted.begins[code + 1];
  std::partial_sum(sorted.begins.begin(), sorted.begins.end(), sorted.begins.begin());
  return sorted;
}

/// y = +1 for the first class, so b = y alpha is in [0, limit], and in [-limit, 0] for the second.
SmoProblem pair_problem(const PairRows& rows, double first_limit, double second_limit,
                        const SVCOptions& options) {
  const auto first = static_cast<size_t>(rows.first_size());
  const auto second = static_cast<size_t>(rows.size()) - first;
  SmoProblem problem;
  problem.linear.assign(first, 1);
  problem.linear.insert(problem.linear.end(), second, -1);
  problem.lower.assign(first, 0);
  problem.lower.insert(problem.lower.end(), second, -second_limit);
  problem.upper.assign(first, first_limit);
  problem.upper.insert(problem.upper.end(), second, 0);
  problem.tolerance = options.tol;
  if (options.max_iter >= 0) problem.max_iter = options.max_iter;
  return problem;
}

/// The coefficients of one pair that are not 0, by position.
struct PairCoefficients {
  int64_t row_of_first, row_of_second;  // in the matrix of dual coefficients
  std::vector<std::pair<int64_t, double>> of_first, of_second;
};

PairCoefficients nonzero(const std::vector<double>& coefficients, const PairRows& rows,
                         int64_t first, int64_t second, double sign) {
  PairCoefficients result{second - 1, first, {}, {}};
  for (int64_t k = 0; k < rows.size(); ++k)
    if (coefficients[k] != 0)
      (k < rows.first_size() ? result.of_first : result.of_second)
          .emplace_back(rows.sample(k), sign * coefficients[k]);
  return result;
}

/// The column of each position among the support vectors, or -1.
std::vector<int64_t> vector_columns(const std::vector<PairCoefficients>& pairs, int64_t n) {
  std::vector<int64_t> columns(static_cast<size_t>(n), -1);
  for (const PairCoefficients& pair : pairs)
    for (const auto* side : {&pair.of_first, &pair.of_second})
      for (const auto& entry : *side) columns[entry.first] = 0;
  int64_t count = 0;
  for (int64_t& column : columns)
    if (column == 0) column = count++;
  return columns;
}

std::vector<double> dual_matrix(const std::vector<PairCoefficients>& pairs,
                                const std::vector<int64_t>& columns, const Shape& shape) {
  std::vector<double> dual(static_cast<size_t>(shape[0] * shape[1]));
  for (const PairCoefficients& pair : pairs) {
    for (const auto& entry : pair.of_first)
      dual[pair.row_of_first * shape[1] + columns[entry.first]] = entry.second;
    for (const auto& entry : pair.of_second)
      dual[pair.row_of_second * shape[1] + columns[entry.first]] = entry.second;
  }
  return dual;
}

std::vector<std::vector<VectorCoefficient>> coefficients_of_pairs(
    const std::vector<PairCoefficients>& pairs, const std::vector<int64_t>& columns) {
  std::vector<std::vector<VectorCoefficient>> result;
  for (const PairCoefficients& pair : pairs) {
    result.emplace_back();
    for (const auto* side : {&pair.of_first, &pair.of_second})
      for (const auto& entry : *side) result.back().push_back({columns[entry.first], entry.second});
  }
  return result;
}

/// Calls body(row, decisions of the row) for all rows of [n, pairs], in parallel.
template <class Body>
void for_each_row(const Tensor& decisions, const Body& body) {
  const Tensor host = on_host(decisions);
  const int64_t pairs = decisions.rank() == 2 ? decisions.dim(1) : 1;
  const float* values = host.data<float>();
  parallel_for(decisions.dim(0), kRowsPerPiece, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i, values + i * pairs);
  });
}

/// scikit-learn's scores of the classes: the votes, plus the sums of the decisions, scaled into
/// (-1/3, 1/3).
Tensor class_scores(const Tensor& decisions, int64_t classes) {
  Tensor result({decisions.dim(0), classes}, DType::f32, Device::cpu());
  float* scores = result.overwrite<float>();
  for_each_row(decisions, [&](int64_t row, const float* decision) {
    std::vector<double> votes(static_cast<size_t>(classes)), sums(votes.size());
    for (int64_t i = 0; i < classes; ++i)
      for (int64_t j = i + 1; j < classes; ++j, ++decision) {
        const double value = static_cast<double>(*decision);
        ++votes[value >= 0 ? i : j];
        sums[i] += value;
        sums[j] -= value;
      }
    for (int64_t c = 0; c < classes; ++c)
      scores[row * classes + c] =
          static_cast<float>(votes[c] + sums[c] / (3 * (std::abs(sums[c]) + 1)));
  });
  return result.to(decisions.device());
}

}  // namespace

SVC::SVC(SVCOptions options) : options_(std::move(options)) {
  check_kernel(kernel_options(options_), kName);
  require(options_.c > 0 && std::isfinite(options_.c), kName, "expected C above 0, got ",
          options_.c);
  require(options_.tol > 0 && std::isfinite(options_.tol), kName, "expected tol above 0, got ",
          options_.tol);
  require(options_.cache_size > 0 && options_.cache_size < 1e9, kName,
          "expected cache_size above 0 and below 10^9 MiB, got ", options_.cache_size);
  require(options_.max_iter >= -1, kName, "expected max_iter of -1 or more, got ",
          options_.max_iter);
}

void SVC::fit(const Tensor& x, const Tensor& y) {
  check_samples(x, kName);
  const LabelCodes labels = encode_labels(read_labels(y, x.dim(0), kName));
  check_classes(labels.classes, kName);
  std::vector<double> limits = weights_of_classes(options_.class_weight, labels, kName);
  for (double& limit : limits) {
    require(limit > 0, kName, "expected class weights above 0, got ", limit);
    limit *= options_.c;
  }
  const SortedSamples sorted = sort_by_class(labels);
  const KernelFunction function = kernel_function(kernel_options(options_), x);
  KernelCache cache(
      function,
      kernel_samples_in_place(function, take(x, tensor_from(sorted.order, x.device()), 0)),
      sorted.begins, static_cast<int64_t>(options_.cache_size * (1 << 20)));

  const auto classes = static_cast<int64_t>(labels.classes.size());
  const double sign = classes == 2 ? -1 : 1;  // of two classes, the larger one is positive
  std::vector<PairCoefficients> pairs;
  std::vector<double> intercepts;
  int64_t iterations = 0;
  bool converged = true;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j) {
      report_progress("pairs of classes", static_cast<int64_t>(pairs.size()),
                      classes * (classes - 1) / 2);
      PairRows rows(cache, i, j);
      const SmoSolution solution =
          minimize(pair_problem(rows, limits[i], limits[j], options_), rows);
      iterations += solution.iterations;
      converged = converged && solution.converged;
      intercepts.push_back(sign * solution.intercept);
      pairs.push_back(nonzero(solution.coefficients, rows, i, j, sign));
    }

  const std::vector<int64_t> columns = vector_columns(pairs, x.dim(0));
  std::vector<int32_t> support;
  std::vector<int64_t> n_support(labels.classes.size());
  for (int64_t position = 0; position < x.dim(0); ++position) {
    if (columns[position] < 0) continue;
    support.push_back(sorted.order[position]);
    ++n_support[labels.codes[support.back()]];
  }
  const Tensor vectors = take(x, tensor_from(support, x.device()), 0);
  const Shape dual_shape{classes - 1, vectors.dim(0)};
  dual_ = tensor_from(dual_matrix(pairs, columns, dual_shape), dual_shape, x.device());
  intercept_ = tensor_from(intercepts, {std::ssize(intercepts)}, x.device());
  linear_ = {};
  if (options_.kernel == SvmKernel::linear) {
    linear_ = LinearFunction(
        linear_weights(function, vectors, coefficients_of_pairs(pairs, columns), intercepts), false,
        x.device());
    intercept_ = linear_.intercept();
  }
  expansion_ = KernelExpansion(function, vectors);
  classes_ = labels.classes;
  support_ = std::move(support);
  n_support_ = std::move(n_support);
  iterations_ = iterations;
  converged_ = converged;
}

Tensor SVC::pair_decisions(const Tensor& x) const {
  if (linear_.defined()) {
    const Tensor decisions = linear_.apply(x, kName);
    return classes_.size() == 2 ? decisions.reshape({x.dim(0)}) : decisions;
  }
  expansion_.check(x, kName);
  const auto classes = static_cast<int64_t>(classes_.size()), others = classes - 1;
  const Tensor intercept = intercept_.to(x.device()), dual = dual_.to(x.device());
  Tensor decisions = intercept.reshape({1, -1}).broadcast_to({x.dim(0), intercept.dim(0)}).clone();
  std::vector<int32_t> of_first, of_second;  // the columns of each pair in `sums`
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j) {
      of_first.push_back(static_cast<int32_t>(i * others + j - 1));
      of_second.push_back(static_cast<int32_t>(j * others + i));
    }
  const Tensor first = tensor_from(of_first, x.device()),
               second = tensor_from(of_second, x.device());
  expansion_.for_each_block(x, [&](const Tensor& kernels, int64_t begin) {
    Tensor sums = Tensor::zeros({kernels.dim(0), classes * others}, DType::f32, x.device());
    for (int64_t c = 0, vector = 0; c < classes; vector += n_support_[c++]) {
      if (n_support_[c] == 0) continue;
      Tensor out = sums.slice(1, c * others, others);
      gemm(kernels.slice(1, vector, n_support_[c]), dual.slice(1, vector, n_support_[c]), out,
           {.transpose_b = true});
    }
    Tensor out = decisions.slice(0, begin, kernels.dim(0));
    elementwise_into(out, "d + a + b",
                     {{"d", out}, {"a", take(sums, first, 1)}, {"b", take(sums, second, 1)}});
  });
  return classes == 2 ? decisions.reshape({x.dim(0)}) : decisions;
}

Tensor SVC::decision_function(const Tensor& x) const {
  const Tensor decisions = pair_decisions(x);
  if (decisions.rank() == 1 || options_.decision_function_shape == DecisionShape::ovo)
    return decisions;
  return class_scores(decisions, static_cast<int64_t>(classes_.size()));
}

Tensor SVC::predict(const Tensor& x) const {
  const Tensor decisions = pair_decisions(x);
  const auto classes = static_cast<int64_t>(classes_.size());
  std::vector<int32_t> codes(static_cast<size_t>(x.dim(0)));
  for_each_row(decisions, [&](int64_t row, const float* decision) {
    if (classes == 2) {
      codes[row] = *decision >= 0;
      return;
    }
    std::vector<int64_t> votes(static_cast<size_t>(classes));
    for (int64_t i = 0; i < classes; ++i)
      for (int64_t j = i + 1; j < classes; ++j) ++votes[*decision++ > 0 ? i : j];
    codes[row] = static_cast<int32_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
  });
  return decode_labels(codes, classes_, x.device());
}

double SVC::score(const Tensor& x, const Tensor& y) const { return accuracy_score(y, predict(x)); }

}  // namespace kaiseki::ml
